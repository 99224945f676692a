/* SPDX-License-Identifier: MIT */
#include "runtime/ahead.h"

#include <linux/falloc.h> /* FALLOC_FL_PUNCH_HOLE */
#include <linux/magic.h>  /* TMPFS_MAGIC */
#include <sys/mman.h>	  /* MAP_SHARED */
#include <sys/resource.h> /* struct rlimit */
#include <sys/statfs.h>	  /* struct statfs */
#include <sys/uio.h>	  /* struct iovec */

#include "runtime/clock.h"
#include "x86_64/sys.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* glibc before 2.37 */
#endif

#define FREE_LEAST (64 * AHEAD_LARGE) /* in the file system */
#define LONG	   1000000ull	      /* ticks, half a ms or less: more than what is gained by one */
#define PAUSE	   16		      /* times as long as it took, if that was long; then twice as often, and so on */
#define DOUBLED	   12		      /* so often at most */
#define QUICK	   16u		      /* so many that did not take long make up for one that did */
#define REFUSED	   32000000000ull     /* ticks, some 10 s */

static uint64_t paused; /* nobody asks the kernel until then. Relaxed: a thread that sees it late asks once more */
static uint32_t trouble; /* QUICK for each that took long, less those that did not. Relaxed: it may be off by some */
static uint32_t forever; /* may_wait_forever()? 1: no, 2: yes. Relaxed: a thread that does not see it asks, too */
static uint32_t made;	/* any. Relaxed: what a thread made itself it sees */

static int has_room(int fd)
{
	struct rlimit limit;
	struct statfs fs;

	if (sys_call(__NR_fstatfs, fd, (long)&fs, 0, 0, 0, 0) || fs.f_type != TMPFS_MAGIC)
		return 0;
	/* No blocks: without a limit. */
	if (fs.f_blocks && fs.f_bavail * (uint64_t)fs.f_bsize < FREE_LEAST)
		return 0;
	return !sys_call(__NR_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0) && limit.rlim_cur == RLIM_INFINITY;
}

/*
 * May threads of real-time classes have a processor for ever? Then the kernel might wait as long for that one. Asked
 * once.
 */
static int may_wait_forever(void)
{
	uint32_t known = __atomic_load_n(&forever, __ATOMIC_RELAXED); /* relaxed: see there */
	char first = 0;

	if (!known) {
		int fd = (int)sys_open("/proc/sys/kernel/sched_rt_runtime_us", O_RDONLY, 0);
		if (fd >= 0) {
			sys_read(fd, &first, 1);
			sys_close(fd);
		}
		known = 1 + (first == '-');
		__atomic_store_n(&forever, known, __ATOMIC_RELAXED); /* relaxed: see there */
	}
	return known == 2;
}

/* Makes a large page of [at, at + AHEAD_LARGE), which may reach beyond the end of the file. Returns 0 or -errno. */
static long make(int fd, uint64_t at)
{
	static uint8_t zero;
	struct iovec part = { &zero, sizeof(zero) };
	/* The kernel takes no range that is empty. */
	long r = sys_call(__NR_pwritev, fd, (long)&part, 1, (long)at, 0, 0);

	if (r != sizeof(zero))
		return r < 0 ? r : -ENOSPC;
	uint8_t *room =
		sys_mmap(NULL, 2 * AHEAD_LARGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_error(room))
		return (long)(intptr_t)room;
	uint8_t *aligned = (uint8_t *)(((uintptr_t)room + AHEAD_LARGE - 1) & -AHEAD_LARGE);
	uint8_t *p = sys_mmap(aligned, AHEAD_LARGE, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, (int64_t)at);
	sys_madvise(room, 2 * AHEAD_LARGE, MADV_DONTFORK);
	r = sys_is_error(p) ? (long)(intptr_t)p : sys_madvise(p, AHEAD_LARGE, MADV_COLLAPSE);
	sys_munmap(room, 2 * AHEAD_LARGE);
	return r;
}

static void make_timed(int fd, uint64_t at, uint64_t now)
{
	long r = has_room(fd) && !may_wait_forever() ? make(fd, at) : -EOPNOTSUPP;
	uint64_t took = clock_now() - now, pause = r ? REFUSED : 0;
	uint32_t before = __atomic_load_n(&trouble, __ATOMIC_RELAXED); /* relaxed: see there */
	uint32_t after = before - (before > 0);

	if (took > LONG) {
		pause = pause ? pause : PAUSE * took << before / QUICK;
		after = before < DOUBLED * QUICK ? before + QUICK : before;
	}
	__atomic_store_n(&trouble, after, __ATOMIC_RELAXED); /* relaxed, as the two below: see there */
	if (pause)
		__atomic_store_n(&paused, now + pause, __ATOMIC_RELAXED);
	if (!r)
		__atomic_store_n(&made, 1, __ATOMIC_RELAXED); /* relaxed, too */
}

void ahead_make(int fd, uint64_t at, uint64_t size)
{
	uint64_t end = at + size;

	at = (at + AHEAD_LARGE - 1) & -AHEAD_LARGE;
	for (at = at > AHEAD_FROM ? at : AHEAD_FROM; at < end; at += AHEAD_LARGE) {
		uint64_t now = clock_now();
		if ((int64_t)(__atomic_load_n(&paused, __ATOMIC_RELAXED) - now) <= 0) /* relaxed: see there */
			make_timed(fd, at, now);
	}
}

int ahead_reaches(uint64_t end)
{
	/* Relaxed: see there. */
	return end > AHEAD_FROM && end % AHEAD_LARGE && __atomic_load_n(&made, __ATOMIC_RELAXED);
}

void ahead_trim(int fd, uint64_t end)
{
	sys_call(__NR_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (long)end,
		(long)(-end % AHEAD_LARGE), 0, 0);
}
