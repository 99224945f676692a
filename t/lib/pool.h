/* SPDX-License-Identifier: MIT */
/*
 * For tests of the pool (runtime/files/pool.h): its source files are compiled in here, and their system calls go
 * through the hook. Each scenario makes a family of its own, in a process of its own. One file of a test includes it,
 * first.
 */
#ifndef XAUDIT_T_LIB_POOL_H
#define XAUDIT_T_LIB_POOL_H

#define _GNU_SOURCE
#include "x86_64/sys.h"

static long hooked_call(long nr, long a, long b, long c, long d, long e, long f);
#define sys_call hooked_call
#include "runtime/files/pool.c"
#include "runtime/files/pool_grow.c"
#include "runtime/files/pool_make.c"
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

#define CHUNK  TRACE_CHUNK_MIN
#define PLACE  (2 * CHUNK)

static char folder[] = "/tmp/xaudit-pool-XXXXXX";
static char path[64];
static int old_kernel, no_fallocate, may_open = 1;
static int attended = 1; /* by `xaudit record` */
static unsigned opened, populated, touched;
static bool first_backed; /* of place 0 */

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

int broker_place(struct output_place *place)
{
	(void)place;
	return attended;
}

static long hooked_call(long nr, long a, long b, long c, long d, long e, long f)
{
	if (nr == __NR_madvise && c == MADV_POPULATE_WRITE) {
		if (old_kernel)
			return -EINVAL;
		__atomic_fetch_add(&populated, 1, __ATOMIC_RELAXED); /* relaxed, as above */
	}
	if (nr == __NR_fallocate && no_fallocate)
		return -EOPNOTSUPP;
	if (nr == __NR_futex)
		__atomic_fetch_add(&touched, 1, __ATOMIC_RELAXED); /* relaxed, as above */
	return sys_call(nr, a, b, c, d, e, f);
}

/* A family of its own for a scenario. Returns what pool_map() does. */
static long make(const char *where)
{
	snprintf(path, sizeof(path), "%s/meta", where);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	long r = fd < 0 ? -errno : pool_map(fd, CHUNK, &first_backed);
	close(fd);
	if (!r)
		pool_open();
	return r;
}

/* A family on a disk of 1 MiB of its own, for a scenario. 77: there can be none. */
static inline int make_small_disk(void)
{
	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return 77;
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("tmpfs", folder, "tmpfs", 0, "size=1m"))
		return 77;
	return make(folder) ? 2 : 0;
}

/* Returns a descriptor of the file that has filled the disk. */
static inline int fill_disk(void)
{
	static uint8_t bytes[1 << 16];

	snprintf((char *)bytes, 64, "%s/full", folder);
	int fd = open((char *)bytes, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	return fd;
}

static inline uint64_t file_size(void)
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

/* As if others had it grow before. */
static inline long grow(uint64_t to)
{
	bool unused;

	return pool_grow(to, false, &unused);
}

/* All words of the place can be stored to. */
static int fill(uint32_t place)
{
	memset(pool_address(place), 0x55, PLACE);
	return 0;
}

/* Fills the file up to its end, which can't be moved. Returns how many places there were. */
static inline uint32_t take_all(long *error)
{
	uint32_t n = 0;

	while ((*error = pool_take(1)) >= 0)
		n++;
	return n;
}

static void check(int (*scenario)(void), const char *what)
{
	int status = run(scenario);

	if (status == 77)
		skip(1, "%s: not here", what);
	else
		is_int(status, 0, "%s", what);
}

/* Before the first scenario, and after the last. */
static int begin_tests(void)
{
	return mkdtemp(folder) ? 0 : 1;
}

static int end_tests(void)
{
	unlink(path);
	snprintf(path, sizeof(path), "%s/meta", folder);
	unlink(path);
	rmdir(folder);
	return done_testing();
}

#endif
