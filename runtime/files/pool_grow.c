/* SPDX-License-Identifier: MIT */
/*
 * fallocate() only makes a file longer, whoever else does so at the same time: so the file of a family that has
 * processes is never made shorter. Where a file system has none, they take turns under a lock of the file.
 */
#define _GNU_SOURCE /* CLONE_VM, MADV_POPULATE_WRITE */
#include "runtime/files/pool_grow.h"

#include <errno.h>	  /* ENOSPC */
#include <linux/futex.h>  /* FUTEX_WAKE_OP */
#include <sched.h>	  /* CLONE_VM */
#include <sys/file.h>	  /* LOCK_EX */
#include <sys/mman.h>	  /* MAP_PRIVATE */
#include <sys/resource.h> /* struct rlimit */
#include <sys/uio.h>	  /* struct iovec */
#include <sys/wait.h>	  /* __WALL */

#include "runtime/files/broker.h"
#include "runtime/files/family.h"
#include "runtime/files/output.h"
#include "runtime/files/pool.h"
#include "runtime/files/pool_private.h"
#include "x86_64/clone.h"
#include "x86_64/confined.h"
#include "x86_64/sys.h"

#define PAGE	    4096ul
#define TRIES	    1000	 /* while another process has the file grow */
#define APART_STACK (64ul << 10) /* of a process that opens the file for one without descriptors */

struct pool_private pool;

/* ---- pages ---- */

uint64_t pool_limit_of(int resource)
{
	struct rlimit limit;

	if (sys_call(__NR_prlimit64, 0, resource, 0, (long)&limit, 0, 0))
		return RLIM_INFINITY;
	return limit.rlim_cur;
}

bool pool_may_reach(uint64_t size)
{
	uint64_t limit = pool_limit_of(RLIMIT_FSIZE);

	return limit == RLIM_INFINITY || size <= limit;
}

/*
 * Lets the kernel write to each page: it returns an error where a store would raise a signal. It adds 0 to a word, so
 * the word's value stays, even if other threads store there.
 */
static long touch_each(uint64_t at, uint64_t end)
{
	static uint32_t nobody; /* waits here */

	for (at &= -PAGE; at < end; at += PAGE) {
		long r = sys_call(__NR_futex, (long)&nobody, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, (long)at,
			FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0));
		if (r < 0)
			return r == -EFAULT ? -ENOSPC : r;
	}
	return 0;
}

/* Maps pages, and gives them blocks, without a descriptor. */
long pool_populate(uint64_t at, uint64_t end)
{
	static int unknown; /* to the kernel, before 5.14. Relaxed: a thread that sees it late asks once more */
	uint64_t start = at & -PAGE;
	long r = -EINVAL;

	if (!__atomic_load_n(&unknown, __ATOMIC_RELAXED)) { /* relaxed, as above */
		do
			r = sys_call(__NR_madvise, (long)start, (long)(((end + PAGE - 1) & -PAGE) - start),
				MADV_POPULATE_WRITE, 0, 0, 0);
		while (r == -EINTR || r == -EAGAIN);
		if (r == -EINVAL)
			__atomic_store_n(&unknown, 1, __ATOMIC_RELAXED); /* relaxed, as above */
	}
	if (r == -EINVAL)
		r = touch_each(start, end);
	return r == -EFAULT ? -ENOSPC : r;
}

long pool_write_zeros(int fd, uint64_t offset, uint64_t size)
{
	static uint8_t zeros[256 << 10] SYS_LARGE; /* never written, so it costs no memory */

	for (uint64_t done = 0; done < size;) {
		/* One call for all, so that the kernel makes large folios. */
		struct iovec part[64];
		int parts = 0;
		for (uint64_t left = size - done; left && parts < 64; parts++) {
			part[parts].iov_base = zeros;
			part[parts].iov_len = left < sizeof(zeros) ? left : sizeof(zeros);
			left -= part[parts].iov_len;
		}
		long r = output_check(fd, &pool.place);
		if (!r)
			r = sys_call(__NR_pwritev, fd, (long)part, parts, (long)(offset + done), 0, 0);
		if (r == -EINTR)
			continue;
		if (r <= 0)
			return r ? r : -ENOSPC;
		done += (uint64_t)r;
	}
	return 0;
}

/* What is taken becomes accessible, with some of what will be next: seldom a system call. */
long pool_make_accessible(uint64_t end)
{
	/* Relaxed: it only grows, and doing it twice is no harm. */
	if (end <= __atomic_load_n(&pool.accessible, __ATOMIC_RELAXED))
		return 0;
	if (confined())
		return -EPERM;
	end = (end + POOL_STEP - 1) & -POOL_STEP;
	end = end < pool.addresses ? end : pool.addresses;
	long r = sys_mprotect(pool.mapped, end, PROT_READ | PROT_WRITE);
	if (r)
		return r;
	uint64_t known = __atomic_load_n(&pool.accessible, __ATOMIC_RELAXED); /* relaxed, as above */
	while (known < end && !__atomic_compare_exchange_n(&pool.accessible, &known, end, 0, __ATOMIC_RELAXED,
				      __ATOMIC_RELAXED))
		;
	return 0;
}

/* ---- how far it reaches ---- */

bool pool_reaches(uint64_t places)
{
	return places <= __atomic_load_n(&pool.end, __ATOMIC_RELAXED); /* relaxed: as accessible */
}

int pool_open_meta(struct output_place *place)
{
	int fd = family_open("meta", 0, place);

	if (fd < 0 || (place->device == pool.place.device && place->inode == pool.place.inode))
		return fd;
	output_close(fd, place);
	return -ESTALE;
}

long pool_learn_end(int fd)
{
	struct stat st;
	long r = sys_fstat(fd, &st);

	if (r || !output_is(&st, &pool.place))
		return -EBADF;
	uint64_t places = (uint64_t)st.st_size / pool.place_size;
	pool_raise(&pool.end, places < pool.places_max ? (uint32_t)places : pool.places_max);
	return 0;
}

long pool_look_for_end(uint64_t places)
{
	uint64_t end = (uint64_t)(uintptr_t)pool.mapped + places * pool.place_size;
	long r = pool_populate(end - PAGE, end);

	if (!r)
		pool_raise(&pool.end, (uint32_t)places);
	return r;
}

uint64_t pool_most_places(void)
{
	/* Relaxed: a limit. */
	uint64_t mapped = __atomic_load_n(&pool.addresses, __ATOMIC_RELAXED) / pool.place_size;

	return mapped < pool.places_max ? mapped : pool.places_max;
}

uint64_t pool_most_allowed(void)
{
	uint64_t most = pool_most_places(), limit = confined() ? RLIM_INFINITY : pool_limit_of(RLIMIT_FSIZE);

	return most < limit / pool.place_size ? most : limit / pool.place_size;
}

/* ---- growing ---- */

/* Under a lock of the file: of two processes that make it grow, one could else cut what the other has made. */
static long grow_locked(int fd, uint64_t places)
{
	const struct timespec pause = { .tv_nsec = 20000 };
	long r;

	for (int i = 0; (r = sys_call(__NR_flock, fd, LOCK_EX | LOCK_NB, 0, 0, 0, 0)) == -EWOULDBLOCK; i++) {
		long error = pool_learn_end(fd);
		if (error || pool_reaches(places))
			return error;
		if (i == TRIES)
			return r;
		sys_call(__NR_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
	}
	/* Where a file can't be locked, it is left as it is. */
	if (r)
		return r;
	r = pool_learn_end(fd);
	/* The program closed it meanwhile, which ended the lock. */
	if (r)
		return r;
	if (!pool_reaches(places))
		r = sys_call(__NR_ftruncate, fd, (long)(places * pool.place_size), 0, 0, 0, 0);
	/* A child that is forked just now has the descriptor, too. */
	sys_call(__NR_flock, fd, LOCK_UN, 0, 0, 0, 0);
	return r;
}

/* As pool_grow(); and learns where it ends. */
static long grow_file(int fd, uint64_t places, bool half, bool *backed)
{
	uint64_t end = places * pool.place_size, size = half ? pool.place_size / 2 : PAGE;
	long r = pool_learn_end(fd);

	if (r || pool_reaches(places))
		return r;
	/* Nothing is written: another thread may have the place by now. */
	do
		r = sys_call(__NR_fallocate, fd, 0, (long)(end - size), (long)size, 0, 0);
	while (r == -EINTR);
	*backed = !r && half;
	if (r == -EOPNOTSUPP || r == -ENOSYS)
		r = grow_locked(fd, places);
	return r ? r : pool_learn_end(fd);
}

static long grow_here(uint64_t places, bool half, bool *backed)
{
	struct output_place place;
	int fd = pool_open_meta(&place);

	if (fd < 0)
		return fd;
	long r = grow_file(fd, places, half, backed);
	output_close(fd, &pool.place);
	return r;
}

struct apart {
	uint64_t places;
	long result;
};

/* In a process with a table of descriptors and limits of its own. */
static int grow_apart(void *argument)
{
	struct apart *apart = argument;
	struct rlimit limit;
	bool unused;

	if (!sys_call(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		sys_call(__NR_prlimit64, 0, RLIMIT_NOFILE, (long)&limit, 0, 0, 0);
	} else {
		/* Of this table alone. Two: for the folder, and the file. */
		sys_close(0);
		sys_close(1);
	}
	apart->result = grow_here(apart->places, false, &unused);
	return 0;
}

/* All descriptors that the process may have are in use. One that is like it, but has its own, opens the file. */
static __attribute__((noinline)) long grow_without_descriptors(uint64_t places)
{
	struct apart apart = { places, -EMFILE };
	uint64_t before;
	int status;
	uint8_t *stack = sys_mmap(NULL, APART_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (sys_is_error(stack))
		return (long)(intptr_t)stack;
	sys_block_signals(&before);
	/* No signal tells of its end: so the program does not wait for it. */
	long pid = clone_call(CLONE_VM | CLONE_VFORK, stack + APART_STACK, NULL, grow_apart, &apart);
	if (pid > 0)
		while (sys_call(__NR_wait4, pid, (long)&status, __WALL, 0, 0, 0) == -EINTR)
			;
	sys_set_signals(&before, NULL);
	sys_munmap(stack, APART_STACK);
	return apart.result;
}

/* The hint for others. Release; pairs with the acquire in pool_take_hint(). */
static void tell_end(void)
{
	uint32_t *told = &pool_head()->places_end;
	uint32_t end = __atomic_load_n(&pool.end, __ATOMIC_RELAXED); /* relaxed: as accessible */
	uint32_t known = __atomic_load_n(told, __ATOMIC_RELAXED);    /* relaxed: it is compared */

	/* More than there may be: somebody stored it by mistake. */
	while ((known < end || known > pool.places_max) &&
		!__atomic_compare_exchange_n(told, &known, end, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

uint64_t pool_far_places(void)
{
	struct output_place trace;

	return (broker_place(&trace) ? POOL_FAR : POOL_FAR_ALONE) / pool.place_size;
}

/* Nothing is made shorter, whatever is asked for. */
long pool_grow(uint64_t places, bool half, bool *backed)
{
	uint64_t most = pool_most_allowed(), far = pool_far_places();

	*backed = false;
	if (most < places)
		return -EFBIG;
	long r = grow_here(places, half, backed);
	if (r == -EMFILE) {
		/* Once, for what may come. */
		far = far < most ? far : most;
		r = grow_without_descriptors(places > far ? places : far);
	}
	if (!r)
		tell_end();
	return r;
}

void pool_reach_far(void)
{
	uint64_t far = pool_far_places(), most = pool_most_allowed();
	bool unused;

	far = far < most ? far : most;
	if (!confined() && !pool_reaches(far))
		pool_grow(far, false, &unused);
}

long pool_take_hint(uint64_t places)
{
	/* Acquire; pairs with the release in tell_end(). */
	uint64_t hint = __atomic_load_n(&pool_head()->places_end, __ATOMIC_ACQUIRE);

	if (places > hint)
		return -EFBIG;
	/* One page at the end is the same for all; and who asked has not to ask again for the next place. */
	if (hint <= pool_most_places() && !pool_make_accessible(hint * pool.place_size) && !pool_look_for_end(hint))
		return 0;
	return pool_look_for_end(places);
}
