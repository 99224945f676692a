/* SPDX-License-Identifier: MIT */
/*
 * Memory for files that are about to be filled: large pages in tmpfs are made where they are due and nowhere else, what
 * the file holds stays, what is not filled is given back, nothing stays mapped; and a kernel that refuses, or takes
 * long, is left alone for a while. The source file is compiled in here: its clock is ours, and its system calls go
 * through the hook.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/clock.h"
#include "x86_64/sys.h"

static uint64_t ticks = 1;
static const char *runtime_us = "950000\n";
static long hooked_call(long nr, long a, long b, long c, long d, long e, long f);

#define SETTING 1000 /* a descriptor */

static long open_setting(const char *path, int flags, int mode)
{
	return !strcmp(path, "/proc/sys/kernel/sched_rt_runtime_us") && !flags && !mode ? SETTING : -ENOENT;
}

static long read_setting(int fd, void *buffer, size_t size)
{
	return fd == SETTING && size < 3 ? (memcpy(buffer, runtime_us, size), (long)size) : -EBADF;
}

static long close_setting(int fd)
{
	return fd == SETTING ? 0 : -EBADF;
}

#define clock_now() ticks
#define sys_call hooked_call
#define sys_mmap(at, size, prot, flags, fd, offset) \
	((void *)hooked_call(__NR_mmap, (long)(at), (long)(size), prot, flags, fd, offset))
#define sys_munmap(at, size) hooked_call(__NR_munmap, (long)(at), (long)(size), 0, 0, 0, 0)
#define sys_madvise(at, size, advice) hooked_call(__NR_madvise, (long)(at), (long)(size), advice, 0, 0, 0)
#define sys_open open_setting
#define sys_read read_setting
#define sys_close close_setting
#include "runtime/ahead.c"
#undef sys_call
#undef sys_close

#include "t/lib/tap.h"

#define SECTORS(size) ((size) / 512)

static struct {
	long answer;	 /* of MADV_COLLAPSE; 1: the kernel's */
	uint64_t takes;	 /* ticks */
	long type;	 /* of the file system */
	uint64_t free;	 /* bytes; 0: it has no limit */
	rlim_t addresses;
	long mmap_error, write_error;
	int file_alone; /* mmap of an address alone succeeds */
} as;
static unsigned asked, mapped, unmapped;

static long hooked_call(long nr, long a, long b, long c, long d, long e, long f)
{
	switch (nr) {
	case __NR_fstatfs:
		*(struct statfs *)b = (struct statfs){ .f_type = as.type,
			.f_bsize = 4096,
			.f_blocks = as.free ? as.free / 2048 : 0,
			.f_bavail = as.free / 4096 };
		return 0;
	case __NR_prlimit64:
		*(struct rlimit *)d = (struct rlimit){ as.addresses, as.addresses };
		return 0;
	case __NR_mmap:
		if (as.mmap_error && (!as.file_alone || e >= 0))
			return as.mmap_error;
		mapped += e < 0;
		break;
	case __NR_munmap:
		unmapped++;
		break;
	case __NR_pwritev:
		if (as.write_error)
			return as.write_error;
		break;
	case __NR_madvise:
		if (c != MADV_COLLAPSE)
			break;
		asked++;
		ticks += as.takes;
		if (as.answer != 1)
			return as.answer;
		break;
	}
	return sys_call(nr, a, b, c, d, e, f);
}

/* A kernel that has nothing against it, and was not asked yet. */
static void begin(void)
{
	memset(&as, 0, sizeof(as));
	as.type = TMPFS_MAGIC;
	as.addresses = RLIM_INFINITY;
	paused = made = trouble = forever = 0;
	ticks += 1ull << 40;
	asked = mapped = unmapped = 0;
}

static struct stat state(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		memset(&st, 0, sizeof(st));
	return st;
}

static unsigned maps(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned n = 0;

	for (int c; file && (c = getc(file)) != EOF;)
		n += c == '\n';
	if (file)
		fclose(file);
	return n;
}

/* ---- which are due ---- */

static void which(int fd)
{
	const uint64_t large = AHEAD_LARGE, from = AHEAD_FROM;

	begin();
	ahead_make(fd, from - large, large);
	ahead_make(fd, from + 65536, 65536);
	ahead_make(fd, from + 65536, large - 65536);
	is_int(asked, 0, "none near the beginning of the file, and none in the middle of one");
	ahead_make(fd, from, 65536);
	is_int(asked, 1, "one where it begins");
	ahead_make(fd, from + 2 * large, 3 * large + 1);
	is_int(asked, 5, "four for a chunk of three and a byte");
	ahead_make(fd, 0, from + large);
	is_int(asked, 6, "one for a chunk that begins at the file's beginning");
	is_int(mapped * 100 + unmapped, 606, "each mapping goes again");
	is_int(ahead_reaches(from) + ahead_reaches(from + large) + ahead_reaches(65536), 0,
		"none reaches beyond the end of another, or is at the beginning");
	is_int(ahead_reaches(from + 65536), 1, "one reaches beyond its first chunk");
}

/* ---- where none is made ---- */

static void nowhere(int fd, const char *why)
{
	unsigned before = maps();

	ahead_make(fd, AHEAD_FROM, 65536);
	is_int(asked, 0, "%s: none", why);
	is_int(maps(), before, "%s: nothing stays mapped", why);
	is_int(ahead_reaches(AHEAD_FROM + 65536), 0, "%s: so none is given back", why);
	as.type = TMPFS_MAGIC;
	as.free = 0;
	as.addresses = RLIM_INFINITY;
	as.mmap_error = as.write_error = 0;
	ahead_make(fd, AHEAD_FROM, 65536);
	is_int(asked, 0, "%s: it is not looked at again soon", why);
	ticks += REFUSED;
	ahead_make(fd, AHEAD_FROM, 65536);
	is_int(asked, 1, "%s: but later", why);
}

static void where(int fd)
{
	begin();
	as.type = EXT4_SUPER_MAGIC;
	nowhere(fd, "another file system");
	begin();
	as.free = FREE_LEAST - 4096;
	nowhere(fd, "little is free");
	begin();
	as.addresses = 1ull << 40;
	nowhere(fd, "addresses are limited");
	begin();
	as.mmap_error = -ENOMEM;
	nowhere(fd, "no address is free");
	begin();
	as.mmap_error = -ENOMEM;
	as.file_alone = 1;
	nowhere(fd, "the file can't be mapped");
	begin();
	as.write_error = -ENOSPC;
	nowhere(fd, "the file system is full");
	begin();
	runtime_us = "-1\n";
	ahead_make(fd, AHEAD_FROM, 65536);
	runtime_us = "950000\n";
	is_int(asked, 0, "real-time threads may have a processor for ever: none");
	ticks += REFUSED;
	ahead_make(fd, AHEAD_FROM, 65536);
	is_int(asked, 0, "real-time threads may have a processor for ever: that is asked once");
	begin();
	as.free = FREE_LEAST;
	ahead_make(fd, AHEAD_FROM, 65536);
	is_int(asked, 1, "enough is free: one");
}

/* ---- a kernel that refuses, or takes long ---- */

static void when(int fd)
{
	unsigned before = maps();

	begin();
	as.answer = -EINVAL;
	ahead_make(fd, AHEAD_FROM, 65536);
	ahead_make(fd, AHEAD_FROM, 2 * AHEAD_LARGE);
	is_int(asked, 1, "refused: it is not asked again soon");
	is_int(maps(), before, "refused: nothing stays mapped");
	is_int(ahead_reaches(AHEAD_FROM + 65536), 0, "refused: there is nothing to give back");
	ticks += REFUSED;
	ahead_make(fd, AHEAD_FROM, 65536);
	is_int(asked, 2, "refused: it is asked again later");

	begin();
	as.takes = LONG;
	ahead_make(fd, AHEAD_FROM, 65536);
	as.takes = 2 * LONG;
	ahead_make(fd, AHEAD_FROM, 2 * AHEAD_LARGE);
	is_int(asked, 2, "quick: it is asked again, slow: not");
	ticks += (PAUSE - 1) * as.takes - 1;
	ahead_make(fd, AHEAD_FROM, 65536);
	is_int(asked, 2, "slow: not for so many times as long");
	ticks++;
	ahead_make(fd, AHEAD_FROM, 65536);
	is_int(asked, 3, "slow: again then");
	ticks += 2 * PAUSE * as.takes - as.takes - 1;
	ahead_make(fd, AHEAD_FROM, 65536);
	is_int(asked, 3, "slow once more: not for twice that");
	ticks++;
	as.takes = 0;
	for (unsigned i = 0; i < QUICK; i++)
		ahead_make(fd, AHEAD_FROM, 65536);
	is_int(asked, 19, "again then");
	as.takes = 2 * LONG;
	ahead_make(fd, AHEAD_FROM, 65536);
	ticks += 2 * PAUSE * as.takes - as.takes - 1;
	ahead_make(fd, AHEAD_FROM, 65536);
	is_int(asked, 20, "some quick ones make up for one slow one");
	ticks++;
	ahead_make(fd, AHEAD_FROM, 65536);
	is_int(asked, 21, "and no more");
	for (int i = 0; i < 30; i++) {
		ticks += 1ull << 50;
		ahead_make(fd, AHEAD_FROM, 65536);
	}
	ticks += ((uint64_t)PAUSE << DOUBLED) * as.takes - as.takes;
	ahead_make(fd, AHEAD_FROM, 65536);
	is_int(asked, 52, "it is asked again in the end, however often it was slow");
}

/* ---- the kernel's own ---- */

static uint8_t data[AHEAD_LARGE], got[AHEAD_LARGE];

static void really(int fd)
{
	const uint64_t at = AHEAD_FROM, chunk = 65536;
	struct stat st;
	unsigned before = maps(), tries = 0;

	begin();
	as.answer = 1;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i % 251 + 1);
	/* It may be out of memory, or in use, for a moment. */
	do {
		if (tries)
			usleep(50000);
		paused = 0;
		ahead_make(fd, at, chunk);
		st = state(fd);
	} while (st.st_blocks < (blkcnt_t)SECTORS(AHEAD_LARGE) && ++tries < 20);
	if (tries == 20) {
		skip(1, "this kernel makes no large page in tmpfs");
		return;
	}
	is_int(st.st_blocks, SECTORS(AHEAD_LARGE), "so much memory is the file's");
	is_int(st.st_size, (long long)at + 1, "the file does not grow but for a zero");
	is_int(maps(), before, "nothing stays mapped");
	is_int(pread(fd, got, sizeof(got), (off_t)at), 1, "so a reader finds that");
	is_int(got[0], 0, "which is one");
	ok(pwrite(fd, data, chunk, (off_t)at) == (ssize_t)chunk && pwrite(fd, data, chunk, 0) == (ssize_t)chunk,
		"a chunk is written");
	is_int(state(fd).st_blocks, SECTORS(AHEAD_LARGE + chunk), "into that memory");
	is_int(ahead_reaches(at + chunk), 1, "there is more");
	ahead_trim(fd, at + chunk);
	st = state(fd);
	is_int(st.st_blocks, SECTORS(2 * chunk), "which can be given back");
	is_int(st.st_size, (long long)(at + chunk), "the file stays as long as it is");
	ok(pread(fd, got, sizeof(got), (off_t)at) == (ssize_t)chunk && !memcmp(got, data, chunk), "and what it holds");
	ok(pwrite(fd, data, sizeof(data), (off_t)at) == (ssize_t)sizeof(data) &&
			pread(fd, got, sizeof(got), (off_t)at) == (ssize_t)sizeof(got) &&
			!memcmp(got, data, sizeof(data)),
		"and more can be written after it");
}

int main(void)
{
	char name[] = "/tmp/xaudit-ahead-XXXXXX", shared[] = "/dev/shm/xaudit-ahead-XXXXXX";
	struct statfs fs;
	int fd = mkstemp(name), memory = -1;

	if (fd < 0 || unlink(name)) {
		printf("Bail out! no file in /tmp\n");
		return 1;
	}
	which(fd);
	where(fd);
	when(fd);
	if (!statfs("/dev/shm", &fs) && fs.f_type == TMPFS_MAGIC)
		memory = mkstemp(shared);
	if (memory >= 0) {
		unlink(shared);
		really(memory);
	} else {
		skip(1, "/dev/shm is no tmpfs that we may write to");
	}
	return done_testing();
}
