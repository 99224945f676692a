/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* MREMAP_MAYMOVE */
#include "runtime/files/pool.h"

#include <errno.h>	  /* ENOSPC */
#include <stdbool.h>
#include <sys/mman.h>	  /* MAP_SHARED */
#include <sys/resource.h> /* RLIM_INFINITY */
#include <sys/uio.h>	  /* struct iovec */

#include "runtime/files/output.h"
#include "runtime/files/pool_grow.h"
#include "runtime/files/pool_private.h"
#include "x86_64/confined.h"
#include "x86_64/sys.h"

#define PAGE	     4096ul
#define SPARE	     POOL_STEP	   /* that stays when the rest is given back */
#define TAKES	     10000	  /* while others take places */
#define LEFT	     8		  /* a share of the places: with less of them few are left */

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

/* ---- pages ---- */

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

/* Reserves by a descriptor, if one can be opened. */
static long reserve_in_file(uint64_t offset, uint64_t size, enum pool_pages how)
{
	if (!pool_may_reach(offset + size))
		return -EFBIG;
	struct output_place place;
	int fd = pool_open_meta(&place);
	if (fd < 0)
		return fd;
	long r = -EOPNOTSUPP;
	if (!pool_reaches((offset + size) / pool.place_size))
		pool_learn_end(fd);
	/* Beyond its end there would be blocks, but no store. */
	if (how == POOL_LATER && pool_reaches((offset + size) / pool.place_size))
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

static uint64_t *words(uint32_t place)
{
	return (uint64_t *)(void *)(pool.mapped + pool.directory) + place;
}

/* Has so many places be there, and accessible. */
static long reach(uint64_t places)
{
	long r = pool_make_accessible(places * pool.place_size);

	if (r || pool_reaches(places))
		return r;
	if (confined())
		return -EPERM;
	/* Another process may have had the file grow. */
	return pool_take_hint(places) ? pool_grow(places) : 0;
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
	pool_reach_far();
	if (!pool_reaches(POOL_FAR / pool.place_size))
		pool_take_hint(0);
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
		if (last > pool_most_places())
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

/* Are few places left from there on, of what the file has, and may have? */
static bool is_nearly_full(uint64_t place)
{
	/* Relaxed, as accessible. */
	if (place < __atomic_load_n(&pool.end, __ATOMIC_RELAXED) / LEFT * (LEFT - 1))
		return false;
	return place >= pool_most_allowed() / LEFT * (LEFT - 1);
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
		if (place < pool.first || place >= pool_most_places())
			continue;
		/* The directory is there, and holes read as 0. Whatever is named costs no more. Relaxed: see below. */
		if (__atomic_load_n(words(place), __ATOMIC_RELAXED) != word)
			continue;
		uint64_t end = place + 1ull;
		/* No growing: it was somebody's. Else a hole would be stored to: on a full disk that is a SIGBUS. */
		if (pool_make_accessible(end * pool.place_size) ||
			(!pool_reaches(end) && (confined() || pool_look_for_end(end))) || make_words(place, end))
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
	return __atomic_load_n(&pool_head()->places, __ATOMIC_RELAXED) > pool_most_allowed() / share;
}

void pool_name(uint32_t first, uint32_t places, enum trace_place what, uint32_t process, uint32_t number)
{
	for (uint32_t i = places; i-- > 0;)
		/* Release; pairs with the acquire in the reader: one that sees the word sees what is in the place. */
		__atomic_store_n(words(first + i), TRACE_PLACE(what, process, number), __ATOMIC_RELEASE);
}
