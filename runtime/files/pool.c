/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* MADV_POPULATE_WRITE */
#include "runtime/files/pool.h"

#include <errno.h>	  /* ENOSPC */
#include <linux/futex.h>  /* FUTEX_WAKE_OP */
#include <stdbool.h>
#include <sys/file.h>	  /* LOCK_EX */
#include <sys/mman.h>	  /* MAP_SHARED */
#include <sys/resource.h> /* struct rlimit */
#include <sys/uio.h>	  /* struct iovec */

#include "runtime/files/family.h"
#include "runtime/files/output.h"
#include "runtime/files/pool_private.h"
#include "x86_64/confined.h"
#include "x86_64/sys.h"

#define PAGE	     4096ul
#define STEP	     (16ull << 20) /* so much becomes accessible at a time */
#define SPARE	     STEP	   /* that stays when the rest is given back */
#define TRIES	     1000	  /* while another process has the file grow */
#define TAKES	     10000	  /* while others take places */
#define LEFT	     8		  /* a share of the places: with less of them few are left */

struct pool_private pool;

bool pool_is_open(void)
{
	return __atomic_load_n(&pool.base, __ATOMIC_ACQUIRE) != NULL; /* pairs with the release in pool_open() */
}

void pool_open(void)
{
	__atomic_store_n(&pool.base, pool.mapped, __ATOMIC_RELEASE); /* pairs with the acquire in pool_is_open() */
}

void *pool_address(uint32_t place)
{
	return pool.mapped + place * pool.place_size;
}

struct trace_handover *pool_handover(uint32_t place)
{
	return (struct trace_handover *)(void *)(pool.mapped + pool.handover) + place;
}

void pool_handed(void)
{
	/*
	 * Release: a reader that sees it sees what was published. Pairs with nothing but system calls of the other
	 * side.
	 */
	__atomic_fetch_add(&pool_head()->handed, 1, __ATOMIC_RELEASE);
}

uint64_t pool_drain_beat(void)
{
	return __atomic_load_n(&pool_head()->drain_beat, __ATOMIC_RELAXED); /* relaxed: it orders nothing */
}

uint64_t pool_place_size(void)
{
	return pool.place_size;
}

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

/* ---- pages ---- */

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

/*
 * touch_each() for pages that were never stored to, by the one system call that a program's filter leaves us: it stores
 * the mask of signals.
 */
static long touch_new(uint64_t at, uint64_t end)
{
	for (at = (at & -PAGE) + PAGE; at < end + PAGE; at += PAGE) {
		uint64_t *last = (uint64_t *)(uintptr_t)(at - sizeof(*last));
		if (sys_call(__NR_rt_sigprocmask, 0, 0, (long)last, sizeof(*last), 0, 0))
			return -ENOSPC;
		*last = 0;
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

/*
 * Gives the file pages and blocks by writing zeros: whole pages at a time, where a page fault in a shared mapping costs
 * ten times as much (measured, doc/design-recording.md).
 */
static long write_zeros(int fd, uint64_t offset, uint64_t size)
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

/* A descriptor of meta, if it is the file that is mapped; or -errno. */
static int open_meta(void)
{
	struct output_place place;
	int fd = family_open("meta", 0, &place);

	if (fd < 0 || (place.device == pool.place.device && place.inode == pool.place.inode))
		return fd;
	output_close(fd, &place);
	return -ESTALE;
}

static void raise_to(uint32_t *least, uint32_t value)
{
	uint32_t known = __atomic_load_n(least, __ATOMIC_RELAXED); /* relaxed: as pool.accessible */

	/* Relaxed, as above. */
	while (known < value &&
		!__atomic_compare_exchange_n(least, &known, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Asks how large the file is. -EBADF: the descriptor is another file's by now. */
static long learn_end(int fd)
{
	struct stat st;
	long r = sys_fstat(fd, &st);

	if (r || !output_is(&st, &pool.place))
		return -EBADF;
	uint64_t places = (uint64_t)st.st_size / pool.place_size;
	raise_to(&pool.end, places < pool.places_max ? (uint32_t)places : pool.places_max);
	return 0;
}

/* Does the file reach so far, as far as is known? */
static int reaches(uint64_t places)
{
	return places <= __atomic_load_n(&pool.end, __ATOMIC_RELAXED); /* relaxed: as accessible */
}

/* Reserves by a descriptor, if one can be opened. */
static long reserve_in_file(uint64_t offset, uint64_t size, enum pool_pages how)
{
	if (!pool_may_reach(offset + size))
		return -EFBIG;
	int fd = open_meta();
	if (fd < 0)
		return fd;
	long r = -EOPNOTSUPP;
	if (!reaches((offset + size) / pool.place_size))
		learn_end(fd);
	/* Beyond its end there would be blocks, but no store. */
	if (how == POOL_LATER && reaches((offset + size) / pool.place_size))
		r = sys_call(__NR_fallocate, fd, 1 /* KEEP_SIZE */, (long)offset, (long)size, 0, 0);
	/* The file system has no fallocate; or a signal came in between. */
	if (r && r != -ENOSPC && r != -EDQUOT)
		r = write_zeros(fd, offset, size);
	output_close(fd, &pool.place);
	return r;
}

long pool_reserve(void *at, uint64_t size, enum pool_pages how)
{
	uint64_t start = (uint64_t)(uintptr_t)at;

	if (confined())
		return touch_new(start, start + size);
	if (how != POOL_FEW) {
		long r = reserve_in_file(start - (uint64_t)(uintptr_t)pool.mapped, size, how);
		if (r == -ENOSPC || r == -EDQUOT || (!r && how == POOL_LATER))
			return r;
	}
	return pool_populate(start, start + size);
}

void pool_forget(void *at, uint64_t size)
{
	if (!confined())
		sys_madvise(at, size, MADV_DONTNEED);
}

void pool_shrink(void)
{
	/* Relaxed: it only grows, by less than the room while we are at it. */
	uint64_t end = __atomic_load_n(&pool.accessible, __ATOMIC_RELAXED) + SPARE;

	if (!pool_is_open() || end >= pool.addresses || sys_munmap(pool.mapped + end, pool.addresses - end))
		return;
	/* Relaxed: a thread that sees it late finds that it can't be made accessible. */
	__atomic_store_n(&pool.addresses, end, __ATOMIC_RELAXED);
}

/* ---- taking ---- */

/* As many places as there may be, whatever the file has. */
static uint64_t most_places(void)
{
	/* Relaxed: a limit. */
	uint64_t mapped = __atomic_load_n(&pool.addresses, __ATOMIC_RELAXED) / pool.place_size;

	return mapped < pool.places_max ? mapped : pool.places_max;
}

/* What is taken becomes accessible, with some of what will be next: seldom a system call. */
long pool_make_accessible(uint64_t end)
{
	/* Relaxed: it only grows, and doing it twice is no harm. */
	if (end <= __atomic_load_n(&pool.accessible, __ATOMIC_RELAXED))
		return 0;
	if (confined())
		return -EPERM;
	end = (end + STEP - 1) & -STEP;
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

static uint64_t *words(uint32_t place)
{
	return (uint64_t *)(void *)(pool.mapped + pool.directory) + place;
}

/*
 * Has the file so many places, though this process does not know of it? Without a descriptor: the kernel is asked for
 * the last page of the last one, which is accessible.
 */
static long look_for_end(uint64_t places)
{
	uint64_t end = (uint64_t)(uintptr_t)pool.mapped + places * pool.place_size;
	long r = pool_populate(end - PAGE, end);

	if (!r)
		raise_to(&pool.end, (uint32_t)places);
	return r;
}

/* Under a lock of the file: of two processes that make it grow, one could else cut what the other has made. */
static long grow_locked(int fd, uint64_t places, uint64_t wanted)
{
	const struct timespec pause = { .tv_nsec = 20000 };
	long r;

	for (int i = 0; (r = sys_call(__NR_flock, fd, LOCK_EX | LOCK_NB, 0, 0, 0, 0)) == -EWOULDBLOCK; i++) {
		long error = learn_end(fd);
		if (error || reaches(places))
			return error;
		if (i == TRIES)
			return r;
		sys_call(__NR_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
	}
	/* Where a file can't be locked, it is left as it is. */
	if (r)
		return r;
	r = learn_end(fd);
	/* The program closed it meanwhile, which ended the lock. */
	if (r)
		return r;
	if (!reaches(places)) {
		r = sys_call(__NR_ftruncate, fd, (long)(wanted * pool.place_size), 0, 0, 0, 0);
		if (!r)
			raise_to(&pool.end, (uint32_t)wanted);
	}
	if (!r)
		/* Release; pairs with the acquire in reach(). */
		__atomic_store_n(&pool_head()->places_end, __atomic_load_n(&pool.end, __ATOMIC_RELAXED),
			__ATOMIC_RELEASE); /* relaxed: as accessible */
	/* A child that is forked just now has the descriptor, too. */
	sys_call(__NR_flock, fd, LOCK_UN, 0, 0, 0, 0);
	return r;
}

/* Has the file at least so many places: twice what it has, if it may. */
static long grow(uint64_t places)
{
	uint64_t most = most_places(), wanted = 2 * (uint64_t)__atomic_load_n(&pool.end, __ATOMIC_RELAXED);

	wanted = wanted > places ? wanted : places;
	wanted = wanted < most ? wanted : most;
	if (!pool_may_reach(wanted * pool.place_size))
		return -EFBIG;
	int fd = open_meta();
	if (fd < 0)
		return fd;
	long r = grow_locked(fd, places, wanted);
	output_close(fd, &pool.place);
	return r;
}

/* Has so many places be there, and accessible. */
static long reach(uint64_t places)
{
	long r = pool_make_accessible(places * pool.place_size);

	if (r || reaches(places))
		return r;
	if (confined())
		return -EPERM;
	/* Acquire; pairs with the release in grow_locked(). A hint: another process may have had the file grow. */
	if (places <= __atomic_load_n(&pool_head()->places_end, __ATOMIC_ACQUIRE) && !look_for_end(places))
		return 0;
	return grow(places);
}

/* Has the words of these places be there. */
static long make_words(uint32_t first, uint64_t end)
{
	if (end <= __atomic_load_n(&pool.worded, __ATOMIC_RELAXED)) /* relaxed, as accessible */
		return 0;
	if (confined())
		return -EPERM;
	long r = pool_populate((uint64_t)(uintptr_t)words(first), (uint64_t)(uintptr_t)words((uint32_t)end));
	return r ? r
		 : pool_populate((uint64_t)(uintptr_t)pool_handover(first),
			   (uint64_t)(uintptr_t)pool_handover((uint32_t)end));
}

void pool_prepare(void)
{
	uint32_t hint = __atomic_load_n(&pool_head()->places_end, __ATOMIC_RELAXED); /* relaxed: a hint */

	if (hint <= most_places() && !reaches(hint) && !pool_make_accessible(hint * pool.place_size))
		look_for_end(hint);
	uint32_t end = __atomic_load_n(&pool.end, __ATOMIC_RELAXED); /* relaxed, as accessible */
	if (!pool_make_accessible(end * pool.place_size) && !make_words(0, end))
		__atomic_store_n(&pool.worded, end, __ATOMIC_RELAXED); /* relaxed, as accessible */
}

static long take(uint32_t places)
{
	struct trace_head *head = pool_head();
	/* Relaxed: nothing is there yet that this would order. Any member can have written it: see pool.h. */
	uint32_t first = __atomic_load_n(&head->places, __ATOMIC_RELAXED);
	long r;

	for (int i = 0; i < TAKES; i++) {
		uint64_t last = (uint64_t)first + places;
		if (first < pool.first || first > pool.places_max)
			return -EBADMSG;
		/* The process might have little memory when it started, or has given back what it did not use. */
		if (last > most_places())
			return pool.is_short || last <= pool.places_max ? -ENOMEM : -ENOBUFS;
		if ((r = reach(last)) || (r = make_words(first, last)))
			return r;
		/* Relaxed, as above. */
		if (__atomic_compare_exchange_n(
			    &head->places, &first, first + places, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return first;
	}
	return -EAGAIN;
}

/* As many places as the file may have, in this process. Makes a system call, unless under a filter. */
static uint64_t most_allowed(void)
{
	uint64_t most = most_places(), limit = confined() ? RLIM_INFINITY : pool_limit_of(RLIMIT_FSIZE);

	return most < limit / pool.place_size ? most : limit / pool.place_size;
}

/* Are few places left from there on, of what the file has, and may have? */
static bool is_nearly_full(uint64_t place)
{
	/* Relaxed, as accessible. */
	if (place < __atomic_load_n(&pool.end, __ATOMIC_RELAXED) / LEFT * (LEFT - 1))
		return false;
	return place >= most_allowed() / LEFT * (LEFT - 1);
}

long pool_take(uint32_t places)
{
	long first = take(places);

	if (first < 0 || is_nearly_full((uint64_t)first))
		__atomic_fetch_add(&pool_head()->short_of, 1, __ATOMIC_RELAXED); /* relaxed: a hint */
	return first;
}

/* A place that was given back, or -ENOENT. */
static long take_given(struct trace_head *head)
{
	/* Relaxed: where it is seen late a new place is taken. */
	if (__atomic_load_n(&head->given, __ATOMIC_RELAXED) <= __atomic_load_n(&head->taken_again, __ATOMIC_RELAXED))
		return -ENOENT;
	for (uint32_t i = 0; i < TRACE_FREE; i++) {
		uint32_t place = __atomic_load_n(&head->free[i], __ATOMIC_RELAXED); /* relaxed: only named there */
		uint64_t word = TRACE_PLACE(TRACE_PLACE_FREE, 0, 0);
		if (place < pool.first || place >= most_places())
			continue;
		/* The directory is there, and holes read as 0. Whatever is named costs no more. Relaxed: see below. */
		if (__atomic_load_n(words(place), __ATOMIC_RELAXED) != word)
			continue;
		uint64_t end = place + 1ull;
		/* No growing: it was somebody's. Else a hole would be stored to: on a full disk that is a SIGBUS. */
		if (pool_make_accessible(end * pool.place_size) ||
			(!reaches(end) && (confined() || look_for_end(end))) || make_words(place, end))
			continue;
		/*
		 * Acquire; pairs with system calls of the other side, which has written all of the place before this
		 * word. Relaxed where it fails.
		 */
		if (!__atomic_compare_exchange_n(words(place), &word, 0, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		__atomic_fetch_add(&head->taken_again, 1, __ATOMIC_RELAXED); /* relaxed: a hint */
		return (long)place;
	}
	return -ENOENT;
}

long pool_take_any(int *used)
{
	struct trace_head *head = pool_head();
	long place = take_given(head);

	*used = place >= 0;
	return place >= 0 ? place : pool_take(1);
}

void pool_unmark(long mark)
{
	sys_munmap((void *)(uintptr_t)mark, PAGE);
}

long pool_mark(const void *head)
{
	if (confined())
		return -EPERM;
	/* A length of 0 makes a second mapping of what is shared. */
	long at = sys_call(__NR_mremap, (long)(intptr_t)head, 0, PAGE, MREMAP_MAYMOVE, 0, 0);
	if (at < 0 && at > -4096)
		return at;
	long r = sys_madvise((void *)(uintptr_t)at, PAGE, MADV_DONTFORK);
	if (!r)
		r = sys_mprotect((void *)(uintptr_t)at, PAGE, PROT_NONE);
	if (r)
		pool_unmark(at);
	return r ? r : at;
}

bool pool_is_scarce(uint32_t share)
{
	/* Relaxed: a hint. */
	return __atomic_load_n(&pool_head()->places, __ATOMIC_RELAXED) > most_allowed() / share;
}

void pool_name(uint32_t first, uint32_t places, enum trace_place what, uint32_t process, uint32_t number)
{
	for (uint32_t i = places; i-- > 0;)
		/* Release; pairs with the acquire in the reader: one that sees the word sees what is in the place. */
		__atomic_store_n(words(first + i), TRACE_PLACE(what, process, number), __ATOMIC_RELEASE);
}
