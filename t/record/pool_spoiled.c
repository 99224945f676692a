/* SPDX-License-Identifier: MIT */
/*
 * What another member stores to the shared part of a family's file moves no store of ours out of the places, and holds
 * up nobody.
 */
#include "t/lib/pool.h"

/* ---- what other members store ---- */

/* The head as a member left it that stores what it likes: all words but those of the allocation are `value`. */
static void spoil_head(uint64_t value)
{
	struct trace_head *head = pool_head();
	struct trace_head spoiled;

	memset(&spoiled, (int)(value & 0xff), sizeof(spoiled));
	spoiled.directory = spoiled.handover = value;
	spoiled.places = head->places;
	*head = spoiled;
}

/* Nothing of the head leads a store anywhere else: neither the directory's nor the handovers'. */
static int spoiled_offsets(void)
{
	if (make(folder))
		return 2;
	uint64_t *canary = shared(PAGE), offset = (uint64_t)(uintptr_t)canary - (uint64_t)(uintptr_t)pool.mapped;
	struct trace_handover *before = pool_handover(7);
	for (int i = 0; i < 3; i++) {
		/* The words would come to lie on the canary. */
		spoil_head(i == 0 ? offset - 8 * (pool_head()->places) : i == 1 ? offset : 0);
		long place = pool_take(1);
		if (place < 0)
			return 3;
		pool_name((uint32_t)place, 1, TRACE_PLACE_CHUNK, 5, 6);
		const uint64_t *word = (void *)(pool.mapped + TRACE_HEAD_SIZE + 8 * place);
		if (*word != TRACE_PLACE(TRACE_PLACE_CHUNK, 5, 6))
			return 4;
		if (pool_handover(7) != before)
			return 5;
	}
	for (size_t i = 0; i < PAGE / 8; i++)
		if (canary[i])
			return 6;
	return 0;
}

/* What `places` says is taken only where places may be, each with all of its words, and can be stored to. */
static int spoiled_places(void)
{
	const uint32_t bad[] = { 0, UINT32_MAX, UINT32_MAX - 1, TRACE_PLACE_MAX };

	if (make(folder))
		return 2;
	uint32_t first = pool.first, max = (uint32_t)pool_most_places();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		pool_head()->places = bad[i];
		if (pool_take(1) != -EBADMSG)
			return 3;
	}
	pool_head()->places = first - 1;
	if (pool_take(1) != -EBADMSG)
		return 4;
	pool_head()->places = max;
	if (pool_take(1) != -ENOBUFS)
		return 5;
	pool_head()->places = max - 1;
	if (pool_take(2) != -ENOBUFS || pool_take(UINT32_MAX) != -ENOBUFS)
		return 6;
	/* The last one that may be: the file grows so far, though it is larger than any before. */
	long place = pool_take(1);
	if (place != (long)max - 1 || pool_reserve(pool_address((uint32_t)place), PLACE, POOL_LATER))
		return 7;
	fill((uint32_t)place);
	pool_name((uint32_t)place, 1, TRACE_PLACE_CHUNK, 5, 6);
	pool_handover((uint32_t)place)->full = 1;
	/* One that somebody has. */
	pool_head()->places = first;
	place = pool_take(1);
	return place != (long)first || pool_reserve(pool_address(first), PLACE, POOL_NOW) ? 8 : fill(first);
}

/*
 * The file is shorter than `places_end` says, or longer: what is taken can be stored to, however it is reserved, with
 * and without a descriptor; or there is an error. *got: how many.
 */
static int spoiled_end(uint32_t says, uint32_t *got)
{
	struct rlimit small = { 64 * PLACE, RLIM_INFINITY }, large = { RLIM_INFINITY, RLIM_INFINITY };
	long place = 0;

	*got = 0;
	setrlimit(RLIMIT_FSIZE, &small);
	int may = may_open;
	may_open = 1;
	if (make(folder) || grow(9))
		return 2;
	may_open = may;
	setrlimit(RLIMIT_FSIZE, &large);
	for (int way = 0; *got < 100 && place >= 0; way++) {
		pool_head()->places_end = says;
		place = pool_take(1);
		if (place < 0)
			break;
		if (pool_reserve(pool_address((uint32_t)place), PLACE, (enum pool_pages)(way % 3)))
			return 3;
		fill((uint32_t)place);
		++*got;
	}
	return 0;
}

static int spoiled_ends(void)
{
	const uint32_t says[] = { 0, 1, 3, 63, 65, 70, 1000, TRACE_PLACE_MAX, UINT32_MAX };
	uint32_t got;

	for (size_t i = 0; i < sizeof(says) / sizeof(*says); i++) {
		may_open = 1;
		int r = spoiled_end(says[i], &got);
		if (r || got != 100)
			return 10 + (int)i;
		/* Without a descriptor it ends where the file does: eight places behind the first. */
		may_open = 0;
		r = spoiled_end(says[i], &got);
		if (r || got != 8)
			return 30 + (int)i;
		may_open = 1;
	}
	return 0;
}

/* The file has grown, by another process: who can't open it believes that, once the kernel says so, too. */
static int grown_by_another(void)
{
	struct rlimit small = { 64 * PLACE, RLIM_INFINITY }, large = { RLIM_INFINITY, RLIM_INFINITY };
	long error;

	setrlimit(RLIMIT_FSIZE, &small);
	if (make(folder))
		return 2;
	setrlimit(RLIMIT_FSIZE, &large);
	may_open = 0;
	uint32_t end = pool.end;
	take_all(&error);
	if (error != -EACCES || pool_head()->places != end || end != 1)
		return 3;
	if (truncate(path, 80 * PLACE))
		return 4;
	pool_head()->places_end = 80;
	if (pool_take(80 - end) != end || pool_take(1) != -EACCES)
		return 5;
	memset(pool_address(end), 0x55, (80 - end) * PLACE);
	return 0;
}

static int over;

static void *disturb(void *unused)
{
	struct trace_head *head = pool_head();

	/* Relaxed, all: it is to end soon. */
	for (uint32_t i = 0; !__atomic_load_n(&over, __ATOMIC_RELAXED); i++) {
		__atomic_store_n(&head->places, pool.first + i % 50, __ATOMIC_RELAXED); /* as said */
		__atomic_store_n(&head->places_end, i, __ATOMIC_RELAXED); /* as said */
	}
	return unused;
}

/* Words that change all the time make no call last: each answers, with a place in bounds or an error. */
static int never_still(void)
{
	pthread_t thread[2];

	if (make(folder))
		return 2;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, disturb, NULL))
			return 3;
	for (int i = 0; i < 2000; i++) {
		uint32_t n = 1 + (uint32_t)i % 2;
		long place = pool_take(n);
		if (place >= 0 && (place < pool.first || place + n > pool.end))
			return 4;
		if (place < 0 && place != -EAGAIN)
			return 5;
	}
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED); /* as said */
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* On a full disk: a place that was never there is named as given back. Its word, which lies in a hole, is not read. */
static int spoiled_given(void)
{
	const uint64_t places = 3 * POOL_BLOCK;
	const int r = make_small_disk();
	bool used = true;

	if (r)
		return r;
	if (grow(places) || pool_make_accessible(places * PLACE))
		return 3;
	fill_disk();
	for (uint32_t i = 0; i < TRACE_FREE; i++)
		pool_head()->free[i] = POOL_BLOCK * (1 + i % 2) + 1 + i;
	pool_head()->given = 1000;
	return pool_take_any(&used, NULL) == pool.first && !used ? 0 : 4;
}

/* Under a filter, only what was there when it came: nothing is asked. */
static int spoiled_confined(void)
{
	struct rlimit small = { 64 * PLACE, RLIM_INFINITY };
	long error;

	setrlimit(RLIMIT_FSIZE, &small);
	if (make(folder))
		return 2;
	uint32_t left = 64 - pool_head()->places;
	pool_head()->places_end = TRACE_PLACE_MAX;
	pool_prepare();
	tramp_confined = 1;
	pool_head()->places_end = 1000;
	return take_all(&error) == left && error == -EPERM ? 0 : 3;
}

int main(void)
{
	if (begin_tests())
		return 1;
	check(spoiled_offsets, "where directory and handovers lie no other member can change");
	check(spoiled_places, "which places are taken is believed only within bounds");
	check(spoiled_ends, "how large the file is the kernel says");
	check(grown_by_another, "a file that grew is used by those, too, who can't open it");
	check(spoiled_given, "on a full disk no place is believed to have been given back that was none");
	check(never_still, "words that change all the time hold up nobody");
	check(spoiled_confined, "under a filter nothing is believed that was not asked before");
	return end_tests();
}
