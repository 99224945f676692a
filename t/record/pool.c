/* SPDX-License-Identifier: MIT */
/*
 * Places of a family's file: each is taken once, by whichever process or thread; the file grows; and where it can't
 * grow, or the disk is full, the caller gets an error and no signal.
 */
#include "t/lib/pool.h"

#define MEMBERS 4 /* processes, of so many threads each */
#define EACH	500 /* places for each thread */

/* ---- taking ---- */

static struct {
	uint8_t times[1 << 16]; /* how often each place was taken */
	uint32_t errors, least;
} *taken;

static unsigned member;

static void *take_many(void *argument)
{
	uint32_t number = member * MEMBERS + (uint32_t)(uintptr_t)argument;

	for (uint32_t i = 0; i < EACH; i++) {
		uint32_t n = 1 + i % 3;
		long first = pool_take(n);
		if (first < 0) {
			__atomic_fetch_add(&taken->errors, 1, __ATOMIC_RELAXED); /* relaxed, as above */
			continue;
		}
		for (uint32_t k = 0; k < n; k++) {
			__atomic_fetch_add(&taken->times[first + k], 1, __ATOMIC_RELAXED); /* relaxed, as above */
			uint64_t *at = pool_address((uint32_t)first + k);
			if (pool_reserve(at, PAGE, POOL_FEW))
				__atomic_fetch_add(&taken->errors, 1, __ATOMIC_RELAXED); /* relaxed, as above */
			*at = number;
		}
		pool_name((uint32_t)first, n, TRACE_PLACE_CHUNK, number, i);
	}
	return argument;
}

static int member_main(unsigned n)
{
	pthread_t thread[MEMBERS];

	member = n;
	for (uintptr_t i = 0; i < MEMBERS; i++)
		if (pthread_create(&thread[i], NULL, take_many, (void *)i))
			return 1;
	for (int i = 0; i < MEMBERS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/*
 * Every place has an owner, named both in the directory and in the place; but for those of the directory itself, and
 * what runs of several places left out before it: two at most. Returns how many are wrong.
 */
static unsigned wrong_places(uint32_t from, uint32_t to)
{
	unsigned wrong = 0;

	for (uint32_t i = from; i < to; i++) {
		uint64_t word = *words(i);
		if (!taken->times[i] && word == TRACE_PLACE(TRACE_PLACE_DIRECTORY, 0, 0) &&
			(i + 2) % POOL_BLOCK <= 2)
			continue;
		wrong += taken->times[i] != 1 || word >> 60 != TRACE_PLACE_CHUNK ||
			 (word >> 32 & (TRACE_PLACE_MAX - 1)) != *(uint64_t *)pool_address(i);
	}
	return wrong;
}

/* A file that is small at first. */
static int all_take(void)
{
	struct rlimit small = { 64 * PLACE, RLIM_INFINITY }, large = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_FSIZE, &small);
	if (make(folder))
		return 2;
	setrlimit(RLIMIT_FSIZE, &large);
	/* The place of the head, and no more. */
	if (pool.first != 1 || file_size() != PLACE)
		return 3;
	taken->least = pool_head()->places;
	for (unsigned n = 1; n <= MEMBERS; n++)
		if (!fork())
			_exit(member_main(n));
	for (unsigned n = 1; n <= MEMBERS; n++) {
		int status = 1;
		if (wait(&status) < 0 || status)
			return 4;
	}
	uint32_t end = pool_head()->places;
	/* 1, 2, 3, 1, 2 ... for each. Blocks of the directory begin at each 512th place. */
	uint32_t got = 0, all = MEMBERS * MEMBERS * (EACH / 3 * 6 + 1 + 2);
	for (uint32_t i = 0; i < end; i++)
		got += taken->times[i];
	if (got != all || end - taken->least < all + all / 512 || end - taken->least > all + 3 * (all / 512 + 1) ||
		taken->errors)
		return 5;
	if (end > pool_head()->places_end || file_size() != pool_head()->places_end * PLACE)
		return 6;
	/* Usually, places of other processes are not accessible. */
	return pool_make_accessible(end * PLACE) || wrong_places(taken->least, end) ? 7 : 0;
}

/* By fallocate, and where a file system has none. */
static int all_take_locked(void)
{
	no_fallocate = 1;
	return all_take();
}

/* Without descriptors, and without a limit that could be raised: it becomes large at once, by another process. */
static int no_descriptors(void)
{
	const struct rlimit few = { 16, 16 };

	if (make(folder) || setrlimit(RLIMIT_NOFILE, &few))
		return 2;
	while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
		;
	uint32_t end = pool.end;
	for (uint32_t i = pool.first; i <= end; i++)
		if (pool_take(1) != i)
			return 3;
	/* The descriptors of this process are as they were. */
	return file_size() == POOL_FAR && fcntl(0, F_GETFD) >= 0 && wait(NULL) < 0 && errno == ECHILD ? 0 : 4;
}

/* The directory lies among the places, in the first one of each 512: nobody gets these, and no run reaches across. */
static int blocks(void)
{
	const uint64_t nobody = TRACE_PLACE(TRACE_PLACE_DIRECTORY, 0, 0);

	if (make(folder))
		return 2;
	if (pool_take(500) != 1 || pool_take(20) != 513 || pool_take(1) != 533)
		return 3;
	if (pool_take(511) != 1025 || pool_take(1) != 1537 || pool_take(512) != -ENOBUFS)
		return 4;
	/* What was left out is nobody's, as readers see; what is taken has no word yet. */
	for (uint32_t i = 0; i < 1538; i++)
		if (*words(i) != ((i > 500 && i < 513) || (i > 533 && i < 1025) || i == 1536 ? nobody : 0))
			return 5;
	return (uint8_t *)words(515) != pool.mapped + 512ul * PLACE + 4096 + 3 * 8 ||
		(uint8_t *)pool_handover(1539) != pool.mapped + 1536ul * PLACE + 8192 + 3 * 16 ? 6 : 0;
}

/* It is as large as is needed later, and no larger than that where nobody will make it small. */
static int far_alone(void)
{
	attended = 0;
	if (make(folder))
		return 2;
	pool_reach_far();
	return file_size() == 256ul << 20 ? 0 : 3;
}

/* ---- what the system refuses ---- */

static int no_growth(void)
{
	struct rlimit small = { 64 * PLACE, RLIM_INFINITY }, large = { RLIM_INFINITY, RLIM_INFINITY };
	long error;

	setrlimit(RLIMIT_FSIZE, &small);
	if (make(folder))
		return 2;
	uint32_t left = 64 - pool_head()->places;
	/* Without SIGXFSZ, which would end this process. */
	if (take_all(&error) != left || error != -EFBIG)
		return 3;
	if (pool_take(1) != -EFBIG || pool_head()->places != 64)
		return 4;
	setrlimit(RLIMIT_FSIZE, &large);
	may_open = 0;
	if (pool_take(1) != -EACCES)
		return 5;
	/* When files can be opened again, taking succeeds at once. */
	may_open = 1;
	return pool_take(3) == 64 && file_size() == 67 * PLACE ? 0 : 6;
}

static int another_file(void)
{
	struct rlimit small = { 64 * PLACE, RLIM_INFINITY }, large = { RLIM_INFINITY, RLIM_INFINITY };
	long error;

	setrlimit(RLIMIT_FSIZE, &small);
	if (make(folder))
		return 2;
	setrlimit(RLIMIT_FSIZE, &large);
	may_open = 0;
	take_all(&error);
	may_open = 1;
	unlink(path);
	close(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	return pool_take(1) == -ESTALE && file_size() == 0 ? 0 : 3;
}

/* A limit on addresses of which the rest of the program uses most; a small limit is enough for a small file. */
static int few_addresses(void)
{
	struct rlimit some = { 2ull << 30, RLIM_INFINITY };

	setrlimit(RLIMIT_AS, &some);
	if (make(folder))
		return 2;
	return pool.addresses == (2ull << 30) / LIMIT_SHARE && pool_head()->places_end * PLACE <= pool.addresses ? 0
														  : 3;
}

/* Away from where the code is, each family beyond the last one's addresses; where these are taken, anywhere. */
static int far_away(void)
{
	uint64_t here = (uint64_t)(uintptr_t)&pool, before = here - (64ull << 30);

	for (int i = 0; i < 3; i++) {
		if (make(folder))
			return 2;
		uint64_t at = (uint64_t)(uintptr_t)pool.mapped;
		if (at % LARGE_PAGE || at + pool.addresses > before || at + pool.addresses + LARGE_PAGE < before)
			return 3;
		before = at - (1ull << 30);
	}
	if (make(folder))
		return 4;
	uint64_t at = (uint64_t)(uintptr_t)pool.mapped;
	long place = pool_take(1);
	return at % PLACE || place < 0 || pool_reserve(pool_address((uint32_t)place), PLACE, POOL_NOW) ? 5 : 0;
}

/* In a program that locks all its memory, only taken places are locked, not the whole file. */
static int all_locked(void)
{
	struct stat st;

	if (make(folder))
		return 2;
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return 77;
	long first = pool_take(1);
	if (first < 0 || pool_reserve(pool_address((uint32_t)first), PLACE, POOL_NOW))
		return 3;
	*(uint64_t *)pool_address((uint32_t)first) = 1;
	/* Blocks on disk are those of the directory and a step or two, though the file is as large as ever needed. */
	pool_reach_far();
	return stat(path, &st) || st.st_size != 4ll << 30 || st.st_blocks * 512 > (128ll << 20) ? 4 : 0;
}

/* ---- pages ---- */

static int each_way(void)
{
	if (make(folder))
		return 2;
	for (int way = POOL_FEW; way <= POOL_NOW; way++) {
		for (may_open = 0; may_open < 2; may_open++) {
			int now = may_open;
			may_open = 1;
			long place = pool_take(1);
			may_open = now;
			if (place < 0 || pool_reserve(pool_address((uint32_t)place), PLACE, (enum pool_pages)way))
				return 3;
			fill((uint32_t)place);
		}
	}
	return 0;
}

static int each_way_old(void)
{
	old_kernel = 1;
	int r = each_way();
	if (r || populated || !touched)
		return r ? r : 4;
	/* Contents of the place stay. */
	long place = pool_take(1);
	uint64_t *at = pool_address((uint32_t)place);
	may_open = 0;
	if (pool_reserve(at, PLACE, POOL_FEW))
		return 5;
	memset(at, 0x55, PLACE);
	if (pool_populate((uint64_t)(uintptr_t)at, (uint64_t)(uintptr_t)at + PLACE))
		return 6;
	for (size_t i = 0; i < PLACE / 8; i++)
		if (at[i] != 0x5555555555555555)
			return 7;
	return 0;
}

/* Takes places until there are no more: then there is an error, and all places taken before can be stored to. */
static int full_disk(enum pool_pages how, int with_file)
{
	long r = make_small_disk(), place;
	uint32_t got = 0;

	if (r)
		return (int)r;
	if (grow(100))
		return 3;
	may_open = with_file;
	for (; got < 100; got++) {
		place = pool_take(1);
		if (place < 0)
			return 3;
		if ((r = pool_reserve(pool_address((uint32_t)place), PLACE, how)))
			break;
		fill((uint32_t)place);
	}
	/* 8 places are 1 MiB. */
	return r == -ENOSPC && got >= 6 && got <= 7 ? 0 : 4;
}

/* What is backed is there for good, by one descriptor, whatever becomes of the disk; else it is said that it is not. */
static int backed(void)
{
	int r = make_small_disk(), fd;
	bool half = false;

	if (r)
		return r;
	opened = 0;
	if (!first_backed || pool_take_half(&half) != 1 || !half || opened != 1 || file_size() != 2 * PLACE)
		return 3;
	fd = fill_disk();
	if (pool_reserve(pool_address(1), PAGE, POOL_FEW) != -ENOSPC)
		return 4;
	memset((uint8_t *)pool_address(0) + CHUNK, 0x55, CHUNK);
	memset((uint8_t *)pool_address(1) + CHUNK, 0x55, CHUNK);
	/* And where nobody can say so. */
	ftruncate(fd, 0);
	no_fallocate = 1;
	if (make(folder) || first_backed || file_size() != PLACE)
		return 5;
	return pool_take_half(&half) != 1 || half || file_size() != 2 * PLACE ? 6 : 0;
}

static int full_few(void)
{
	return full_disk(POOL_FEW, 0);
}

static int full_later(void)
{
	return full_disk(POOL_LATER, 1);
}

static int full_now(void)
{
	return full_disk(POOL_NOW, 1);
}

static int full_now_alone(void)
{
	return full_disk(POOL_NOW, 0);
}

static int full_old(void)
{
	old_kernel = 1;
	return full_disk(POOL_NOW, 0);
}

int main(void)
{
	if (begin_tests())
		return 1;
	taken = shared(sizeof(*taken));
	ok(!pool_is_open(), "there is no family at first");
	check(all_take, "16 threads of 4 processes take each place once, while the file grows");
	memset(taken, 0, sizeof(*taken));
	check(all_take_locked, "and by a lock, where a file system has no fallocate");
	if (WITH_ASAN || WITH_TSAN)
		skip(1, "sanitizers look into what is no thread of theirs");
	else
		check(no_descriptors, "without descriptors it grows all the same");
	check(blocks, "the directory lies among the places, and grows with them");
	check(far_alone, "without record it is not made as large as with it");
	check(no_growth, "a file that may not grow: an answer, until it may");
	check(another_file, "a file by the same name that is another one is left alone");
	if (WITH_ASAN || WITH_TSAN)
		skip(1, "sanitizers have ranges of their own");
	else
		check(far_away, "it is mapped out of the way of libraries");
	if (WITH_ASAN || WITH_TSAN)
		skip(1, "sanitizers take more addresses than such a limit lets a program have");
	else
		check(few_addresses, "where addresses are few it takes a part of them");
	check(all_locked, "mlockall() does not fill the file");
	check(each_way, "all ways of making sure of a place, with and without a descriptor");
	check(each_way_old, "the same on a kernel that knows no MADV_POPULATE_WRITE");
	check(backed, "a chunk that is said to be reserved is, and by how many descriptors");
	check(full_few, "a full disk is told: faulted in");
	check(full_later, "a full disk is told: blocks by a descriptor");
	check(full_now, "a full disk is told: zeros by a descriptor");
	check(full_now_alone, "a full disk is told: without a descriptor");
	check(full_old, "a full disk is told: on an old kernel");
	return end_tests();
}
