/* SPDX-License-Identifier: MIT */
/*
 * Places of a family's file: each is taken once, by whichever process or thread; the file grows; and where it can't
 * grow, or the disk is full, the caller gets an error and no signal. What another member stored to the shared part moves
 * no store of ours out of the places. The pool's source file is compiled in here, and its system calls go through the
 * hook.
 */
#define _GNU_SOURCE
#include "x86_64/sys.h"

static long hooked_call(long nr, long a, long b, long c, long d, long e, long f);
#define sys_call hooked_call
#include "runtime/pool.c"
#undef sys_call

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/lib/sanitizers.h"
#include "t/lib/tap.h"

uint32_t tramp_confined; /* defined in the trampolines, which are not linked here */

#define CHUNK  TRACE_CHUNK_MIN
#define PLACE  (2 * CHUNK)
#define MEMBERS 4 /* processes, of so many threads each */
#define EACH   500 /* places for each thread */

static char folder[] = "/tmp/xaudit-pool-XXXXXX";
static char path[64];
static int old_kernel, may_open = 1;
static unsigned opened, populated, touched;

int family_open(const char *name, int make, struct output_place *place)
{
	(void)make;
	/* Relaxed: a sum, read when all is over. */
	__atomic_fetch_add(&opened, 1, __ATOMIC_RELAXED);
	if (!may_open || strcmp(name, "meta"))
		return -EACCES;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : output_place(fd, place) ? -EBADF : fd;
}

static long hooked_call(long nr, long a, long b, long c, long d, long e, long f)
{
	if (nr == __NR_madvise && c == MADV_POPULATE_WRITE) {
		if (old_kernel)
			return -EINVAL;
		__atomic_fetch_add(&populated, 1, __ATOMIC_RELAXED); /* relaxed, as above */
	}
	if (nr == __NR_futex)
		__atomic_fetch_add(&touched, 1, __ATOMIC_RELAXED); /* relaxed, as above */
	return sys_call(nr, a, b, c, d, e, f);
}

/* A family of its own for a scenario. Returns what pool_map() does. */
static long make(const char *where)
{
	snprintf(path, sizeof(path), "%s/meta", where);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	long r = fd < 0 ? -errno : pool_map(fd, CHUNK);
	close(fd);
	if (!r)
		pool_open();
	return r;
}

static uint64_t file_size(void)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

/* Runs it in a child. Returns its status, 1000 + signal when it was killed. */
static int run(int (*scenario)(void))
{
	int status = -1;

	fflush(stdout);
	pid_t pid = fork();
	if (!pid) {
		alarm(60);
		_exit(scenario());
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void *shared(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

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

/* Every place has an owner, named both in the directory and in the place. Returns how many have not. */
static unsigned wrong_places(uint32_t from, uint32_t to)
{
	unsigned wrong = 0;

	for (uint32_t i = from; i < to; i++) {
		uint64_t word = *words(i);
		wrong += taken->times[i] != 1 || word >> 60 != TRACE_PLACE_CHUNK ||
			 (word >> 32 & (TRACE_PLACE_MAX - 1)) != *(uint64_t *)pool_address(i);
	}
	return wrong;
}

/* A file that is too small at first. */
static int all_take(void)
{
	struct rlimit small = { 64 * PLACE, RLIM_INFINITY }, large = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_FSIZE, &small);
	if (make(folder))
		return 2;
	setrlimit(RLIMIT_FSIZE, &large);
	if (file_size() != 64 * PLACE)
		return 3;
	taken->least = first_head()->places;
	for (unsigned n = 1; n <= MEMBERS; n++)
		if (!fork())
			_exit(member_main(n));
	for (unsigned n = 1; n <= MEMBERS; n++) {
		int status = 1;
		if (wait(&status) < 0 || status)
			return 4;
	}
	uint32_t end = first_head()->places;
	/* 1, 2, 3, 1, 2 ... for each. */
	if (end - taken->least != MEMBERS * MEMBERS * (EACH / 3 * 6 + 1 + 2) || taken->errors)
		return 5;
	if (end > first_head()->places_end || file_size() != first_head()->places_end * PLACE)
		return 6;
	/* Usually, places of other processes are not accessible. */
	return make_accessible(end * PLACE) || wrong_places(taken->least, end) ? 7 : 0;
}

/* ---- what the system refuses ---- */

/* Fills the file up to its end, which can't be moved. Returns how many places there were. */
static uint32_t take_all(long *error)
{
	uint32_t n = 0;

	while ((*error = pool_take(1)) >= 0)
		n++;
	return n;
}

static int no_growth(void)
{
	struct rlimit small = { 64 * PLACE, RLIM_INFINITY }, large = { RLIM_INFINITY, RLIM_INFINITY };
	long error;

	setrlimit(RLIMIT_FSIZE, &small);
	if (make(folder))
		return 2;
	uint32_t left = first_head()->places_end - first_head()->places;
	/* Without SIGXFSZ, which would end this process. */
	if (take_all(&error) != left || error != -EFBIG)
		return 3;
	if (pool_take(1) != -EFBIG || first_head()->places != 64)
		return 4;
	setrlimit(RLIMIT_FSIZE, &large);
	may_open = 0;
	if (pool_take(1) != -EACCES)
		return 5;
	/* When files can be opened again, taking succeeds at once. */
	may_open = 1;
	return pool_take(3) == 64 && file_size() == 128 * PLACE ? 0 : 6;
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
	return pool.addresses == (2ull << 30) / LIMIT_SHARE && first_head()->places_end * PLACE <= pool.addresses ? 0
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
	/* Blocks on disk are those of the directory and a step or two. */
	return stat(path, &st) || st.st_size < (1ll << 30) || st.st_blocks * 512 > (128ll << 20) ? 4 : 0;
}

/* ---- pages ---- */

/* All words of the place can be stored to. */
static int fill(uint32_t place)
{
	memset(pool_address(place), 0x55, PLACE);
	return 0;
}

static int each_way(void)
{
	if (make(folder))
		return 2;
	for (int way = POOL_FEW; way <= POOL_NOW; way++) {
		for (may_open = 0; may_open < 2; may_open++) {
			long place = pool_take(1);
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
	if (populate((uint64_t)(uintptr_t)at, (uint64_t)(uintptr_t)at + PLACE))
		return 6;
	for (size_t i = 0; i < PLACE / 8; i++)
		if (at[i] != 0x5555555555555555)
			return 7;
	return 0;
}

static int make_small_disk(void)
{
	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return 77;
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("tmpfs", folder, "tmpfs", 0, "size=1m"))
		return 77;
	return make(folder) ? 2 : 0;
}

/* Takes places until there are no more: then there is an error, and all places taken before can be stored to. */
static int full_disk(enum pool_pages how, int with_file)
{
	long r = make_small_disk(), place;
	uint32_t got = 0;

	if (r)
		return (int)r;
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

/* ---- what other members store ---- */

/* The head as a member left it that stores what it likes: all words but those of the allocation are `value`. */
static void spoil_head(uint64_t value)
{
	struct trace_head *head = first_head();
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
		spoil_head(i == 0 ? offset - 8 * (first_head()->places) : i == 1 ? offset : 0);
		long place = pool_take(1);
		if (place < 0)
			return 3;
		pool_name((uint32_t)place, 1, TRACE_PLACE_CHUNK, 5, 6);
		if (*(uint64_t *)(void *)(pool.mapped + PLACE + 8 * place) != TRACE_PLACE(TRACE_PLACE_CHUNK, 5, 6))
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
	const uint32_t bad[] = { 0, 1, UINT32_MAX, UINT32_MAX - 1, TRACE_PLACE_MAX };

	if (make(folder))
		return 2;
	uint32_t first = pool.first, max = (uint32_t)most_places();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		first_head()->places = bad[i];
		if (pool_take(1) != -EBADMSG)
			return 3;
	}
	first_head()->places = first - 1;
	if (pool_take(1) != -EBADMSG)
		return 4;
	first_head()->places = max;
	if (pool_take(1) != -ENOMEM)
		return 5;
	first_head()->places = max - 1;
	if (pool_take(2) != -ENOMEM || pool_take(UINT32_MAX) != -ENOMEM)
		return 6;
	/* The last one that may be: the file grows so far, though it is larger than any before. */
	long place = pool_take(1);
	if (place != (long)max - 1 || pool_reserve(pool_address((uint32_t)place), PLACE, POOL_LATER))
		return 7;
	fill((uint32_t)place);
	pool_name((uint32_t)place, 1, TRACE_PLACE_CHUNK, 5, 6);
	pool_handover((uint32_t)place)->full = 1;
	/* One that somebody has. */
	first_head()->places = first;
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
	if (make(folder))
		return 2;
	setrlimit(RLIMIT_FSIZE, &large);
	for (int way = 0; *got < 100 && place >= 0; way++) {
		first_head()->places_end = says;
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
		/* Without a descriptor it ends where the file does. */
		may_open = 0;
		r = spoiled_end(says[i], &got);
		if (r || got != 64 - pool.first)
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
	take_all(&error);
	if (error != -EACCES || first_head()->places != 64)
		return 3;
	if (truncate(path, 80 * PLACE))
		return 4;
	first_head()->places_end = 80;
	if (pool_take(16) != 64 || pool_take(1) != -EACCES)
		return 5;
	memset(pool_address(64), 0x55, 16 * PLACE);
	return 0;
}

static int over;

static void *disturb(void *unused)
{
	struct trace_head *head = first_head();

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
		long place = pool_take(1 + (uint32_t)i % 2);
		if (place >= 0 && (place < pool.first || place + 2 > pool.end))
			return 4;
		if (place < 0 && place != -EAGAIN)
			return 5;
	}
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED); /* as said */
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* Under a filter, only what was there when it came: nothing is asked. */
static int spoiled_confined(void)
{
	struct rlimit small = { 64 * PLACE, RLIM_INFINITY };
	long error;

	setrlimit(RLIMIT_FSIZE, &small);
	if (make(folder))
		return 2;
	uint32_t left = 64 - first_head()->places;
	first_head()->places_end = TRACE_PLACE_MAX;
	pool_prepare();
	tramp_confined = 1;
	first_head()->places_end = 1000;
	return take_all(&error) == left && error == -EPERM ? 0 : 3;
}

static void check(int (*scenario)(void), const char *what)
{
	int status = run(scenario);

	if (status == 77)
		skip(1, "%s: not here", what);
	else
		is_int(status, 0, "%s", what);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	taken = shared(sizeof(*taken));
	ok(!pool_is_open(), "there is no family at first");
	check(all_take, "16 threads of 4 processes take each place once, while the file grows");
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
	check(spoiled_offsets, "where directory and handovers lie no other member can change");
	check(spoiled_places, "which places are taken is believed only within bounds");
	check(spoiled_ends, "how large the file is the kernel says");
	check(grown_by_another, "a file that grew is used by those, too, who can't open it");
	check(never_still, "words that change all the time hold up nobody");
	check(spoiled_confined, "under a filter nothing is believed that was not asked before");
	check(all_locked, "mlockall() does not fill the file");
	check(each_way, "all ways of making sure of a place, with and without a descriptor");
	check(each_way_old, "the same on a kernel that knows no MADV_POPULATE_WRITE");
	check(full_few, "a full disk is told: faulted in");
	check(full_later, "a full disk is told: blocks by a descriptor");
	check(full_now, "a full disk is told: zeros by a descriptor");
	check(full_now_alone, "a full disk is told: without a descriptor");
	check(full_old, "a full disk is told: on an old kernel");
	unlink(path);
	snprintf(path, sizeof(path), "%s/meta", folder);
	unlink(path);
	rmdir(folder);
	return done_testing();
}
