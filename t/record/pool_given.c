/* SPDX-License-Identifier: MIT */
/*
 * Places of a family's file that were given back: each is taken once, by whichever process or thread, before new ones;
 * what is named there is believed only within bounds. And the mapping that tells whether a process's memory is there.
 */
#include "t/lib/pool.h"

#include "runtime/record/chunk.h"

#define MEMBERS 4
#define GIVEN	200u
#define FREE	TRACE_PLACE(TRACE_PLACE_FREE, 0, 0)

/* As `xaudit record` does it. */
static void give_back(uint32_t place, uint32_t name)
{
	*words(place) = FREE;
	pool_head()->free[name] = place;
	pool_head()->given++;
}

static int taken_again(void)
{
	bool used = true;

	if (make(folder))
		return 2;
	long first = pool_take_any(&used, NULL);
	if (first != pool.first || used)
		return 3;
	if (pool_take_any(&used, NULL) != first + 1 || used || pool_head()->taken_again)
		return 4;
	for (uint32_t i = 0; i < 2; i++) {
		if (pool_reserve(pool_address((uint32_t)first + i), PLACE, POOL_FEW))
			return 5;
		fill((uint32_t)first + i);
		pool_name((uint32_t)first + i, 1, TRACE_PLACE_CHUNK, 0, 0);
	}
	give_back((uint32_t)first + 1, 7);
	give_back((uint32_t)first, 9);
	if (pool_take_any(&used, NULL) != first + 1 || !used || *words((uint32_t)first + 1))
		return 6;
	/* To make sure of it changes nothing there. */
	uint8_t *at = pool_address((uint32_t)first + 1);
	if (pool_reserve(at, PLACE, POOL_FEW) || at[0] != 0x55 || at[PLACE - 1] != 0x55)
		return 7;
	if (pool_take_any(&used, NULL) != first || !used || pool_head()->taken_again != 2)
		return 8;
	/* They are named still, but free no more. */
	if (pool_take_any(&used, NULL) != first + 2 || used)
		return 9;
	return pool_take_any(&used, NULL) != first + 3 || used ? 10 : 0;
}

static uint8_t *times;

static void *take_many(void *argument)
{
	bool used;

	for (unsigned i = 0; i < GIVEN / 4; i++) {
		long place = pool_take_any(&used, NULL);
		if (place >= 0 && used)
			__atomic_fetch_add(&times[place], 1, __ATOMIC_RELAXED); /* relaxed: read when all is over */
	}
	return argument;
}

static int each_once(void)
{
	if (make(folder))
		return 2;
	long first = pool_take(GIVEN);
	for (uint32_t i = 0; i < GIVEN; i++)
		give_back((uint32_t)first + i, i);
	for (unsigned n = 0; n < MEMBERS; n++)
		if (!fork()) {
			pthread_t thread[MEMBERS];
			for (int i = 0; i < MEMBERS; i++)
				if (pthread_create(&thread[i], NULL, take_many, NULL))
					_exit(1);
			for (int i = 0; i < MEMBERS; i++)
				pthread_join(thread[i], NULL);
			_exit(0);
		}
	for (unsigned n = 0; n < MEMBERS; n++) {
		int status = 1;
		if (wait(&status) < 0 || status)
			return 3;
	}
	for (uint32_t i = 0; i < GIVEN; i++)
		if (times[first + i] != 1)
			return 4;
	return pool_head()->taken_again == GIVEN ? 0 : 5;
}

/* What is named lies behind the first place, in the file and is free; else a new place is taken. */
static int spoiled(void)
{
	struct rlimit small = { 64 * PLACE, RLIM_INFINITY };
	const uint32_t bad[] = { 0, TRACE_PLACE_MAX - 1, TRACE_PLACE_MAX, UINT32_MAX };
	bool used;

	setrlimit(RLIMIT_FSIZE, &small);
	if (make(folder))
		return 2;
	for (uint32_t i = 0; i < TRACE_FREE; i++)
		pool_head()->free[i] = bad[i % (sizeof(bad) / sizeof(*bad))];
	/* One that somebody uses, one that is new, one beyond the end of a file that may not grow. */
	pool_name(pool.first + 1, 1, TRACE_PLACE_CHUNK, 0, 0);
	pool_head()->free[50] = pool.first + 1;
	pool_head()->free[51] = pool.first + 9;
	pool_head()->free[52] = pool.places_max - 1;
	pool_head()->free[53] = 64;
	pool_head()->given = UINT64_MAX;
	*words(0) = FREE;
	for (uint32_t n = pool.first; n < 64; n++) {
		long place = pool_take_any(&used, NULL);
		if (place != (long)n || used || pool_reserve(pool_address(n), PLACE, POOL_FEW) || fill(n))
			return 3;
		/* It is told when few are left. */
		if (n < 48 && pool_head()->short_of)
			return 8;
	}
	if (pool_take_any(&used, NULL) != -EFBIG || !pool_head()->short_of)
		return 4;
	/* Under a filter, one that was there before. */
	tramp_confined = 1;
	if (pool_take_any(&used, NULL) >= 0)
		return 5;
	give_back(40, 3);
	pool_head()->given = 1;
	pool_head()->taken_again = 0;
	tramp_confined = 0;
	pool_prepare();
	tramp_confined = 1;
	if (pool_take_any(&used, NULL) != 40 || !used)
		return 6;
	return pool_reserve(pool_address(40), PLACE, POOL_FEW) || fill(40) ? 7 : 0;
}

/* A member names places as it likes: that costs no system call, and the file does not grow. */
static int named(void)
{
	bool used;

	if (make(folder) || grow(9))
		return 2;
	opened = 0;
	uint64_t size = file_size();
	uint32_t far = (uint32_t)(size / PLACE) + 5;
	if (far >= pool_most_places())
		return 77;
	for (uint32_t i = 0; i < TRACE_FREE; i++)
		pool_head()->free[i] = pool.first + 1000 + i;
	pool_head()->given = UINT64_MAX;
	unsigned before = populated + touched;
	if (pool_take_any(&used, NULL) != pool.first || used)
		return 3;
	/* It asks once. */
	if (populated + touched - before > 1 || opened)
		return 4;
	pool_head()->free[0] = far;
	*words(far) = FREE;
	if (pool_take_any(&used, NULL) != pool.first + 1 || used || opened)
		return 5;
	return file_size() == size ? 0 : 6;
}

/* What an owner of a place may have in mind still is no word of a later owner's. */
static int tokens(void)
{
	enum { OWNERS = 300, FILLINGS = 10 };
	static uint64_t token[OWNERS * FILLINGS];
	unsigned n = 0;

	for (uint32_t i = 0; i < OWNERS; i++)
		for (uint64_t filling = 0; filling < FILLINGS; filling++) {
			token[n] = chunk_token(filling, 3 + i / 3, i % 3);
			if ((uint32_t)token[n] != TRACE_TOKEN || token[n] >> 60 || token[n] == CHUNK_CLOSED)
				return 2;
			for (unsigned k = 0; k < n; k++)
				if (token[k] == token[n])
					return 3;
			n++;
		}
	return 0;
}

/* Mappings of just one page of meta, there. */
static int marks_of(uint64_t offset)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int marks = 0;

	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long start, end, at;
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &at) == 3 && end - start == PAGE && at == offset &&
			strstr(line, path))
			marks++;
	}
	if (maps)
		fclose(maps);
	return marks;
}

static int marked(void)
{
	int status = 1;

	if (make(folder))
		return 2;
	long place = pool_take(1);
	if (place < 0 || pool_reserve(pool_address((uint32_t)place), PAGE, POOL_FEW) ||
		marks_of((uint64_t)place * PLACE))
		return 3;
	long mark = pool_mark(pool_address((uint32_t)place));
	if (mark <= 0 || marks_of((uint64_t)place * PLACE) != 1)
		return 4;
	if (!fork())
		_exit(marks_of((uint64_t)place * PLACE));
	if (wait(&status) < 0 || status)
		return 5;
	pool_unmark(mark);
	if (marks_of((uint64_t)place * PLACE))
		return 7;
	tramp_confined = 1;
	return pool_mark(pool_address((uint32_t)place)) == -EPERM && !marks_of((uint64_t)place * PLACE) ? 0 : 6;
}

int main(void)
{
	if (begin_tests())
		return 1;
	times = shared(1 << 20);
	check(taken_again, "a place that was given back is taken before a new one, once, as it is");
	check(each_once, "16 threads of 4 processes take each of them once");
	check(spoiled, "names of places are believed only within bounds, and of free ones");
	check(named, "nor do such names cost much, or make the file longer");
	check(tokens, "chunks of one place have tokens of their own, whoever fills it");
	check(marked, "a process is marked, its children are not");
	return end_tests();
}
