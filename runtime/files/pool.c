/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* MREMAP_MAYMOVE */
#include "runtime/files/pool.h"

#include <errno.h>	  /* ENOSPC */
#include <stdbool.h>
#include <sys/mman.h>	  /* MAP_SHARED */
#include <sys/resource.h> /* RLIM_INFINITY */

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
	return (struct trace_handover *)(void *)(pool.mapped + trace_handover_at(&pool.directory, place));
}

void pool_handed(void)
{
	/*
	 * Release: a reader that sees it sees what was published. Pairs with nothing but system calls of the other
	 * side.
	 */
	__atomic_fetch_add(&pool_head()->handed, 1, __ATOMIC_RELEASE);
}

void pool_beside(void)
{
	__atomic_fetch_add(&pool_head()->beside, 1, __ATOMIC_RELEASE); /* as above: the chunk's head */
}

void pool_asked(void)
{
	/* Release: pairs with system calls of `record`, which reads the count of the process's head after this one. */
	__atomic_fetch_add(&pool_head()->asked, 1, __ATOMIC_RELEASE);
}

uint64_t pool_drain_beat(void)
{
	return __atomic_load_n(&pool_head()->drain_beat, __ATOMIC_RELAXED); /* relaxed: it orders nothing */
}

uint64_t pool_copy_beat(void)
{
	return __atomic_load_n(&pool_head()->copy_beat, __ATOMIC_RELAXED); /* relaxed, as above */
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
		r = pool_write_zeros(fd, offset, size);
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
	return (uint64_t *)(void *)(pool.mapped + trace_word_at(&pool.directory, place));
}

/* Has so many places be there, and accessible. *backed, if it is not NULL: of the last one, as pool_take_half(). */
static long reach(uint64_t places, bool *backed)
{
	long r = pool_make_accessible(places * pool.place_size);
	bool unused;

	if (backed)
		*backed = false;
	if (r || pool_reaches(places))
		return r;
	if (confined())
		return -EPERM;
	/* Another process may have had the file grow. */
	return pool_take_hint(places) ? pool_grow(places, backed != NULL, backed ? backed : &unused) : 0;
}

/* Has the words of the place's block be there. */
static long make_words(uint32_t place)
{
	uint32_t worded = __atomic_load_n(&pool.worded, __ATOMIC_RELAXED); /* relaxed, as accessible */
	uint32_t block = place & -POOL_BLOCK;

	if (block < worded)
		return 0;
	if (confined())
		return -EPERM;
	uint64_t at = (uint64_t)(uintptr_t)pool_address(block);
	long r = pool_populate(at + TRACE_HEAD_SIZE, at + POOL_BLOCK_HEAD);
	if (r)
		return r;
	pool_name(block, 1, TRACE_PLACE_DIRECTORY, 0, 0);
	if (block == worded)
		pool_raise(&pool.worded, block + POOL_BLOCK);
	return 0;
}

void pool_prepare(void)
{
	pool_reach_far();
	if (!pool_reaches(pool_far_places()))
		pool_take_hint(0);
	uint32_t end = __atomic_load_n(&pool.end, __ATOMIC_RELAXED); /* relaxed, as accessible */
	long r = pool_make_accessible(end * pool.place_size);
	for (uint32_t block = 0; block < end && !r; block += POOL_BLOCK)
		r = make_words(block);
}

/* The first of so many places, from that one on, none of which is a directory's. */
static uint64_t fit(uint64_t first, uint32_t places)
{
	if (first % POOL_BLOCK && first % POOL_BLOCK + places > POOL_BLOCK)
		first += POOL_BLOCK - first % POOL_BLOCK;
	return first % POOL_BLOCK ? first : first + 1;
}

/* Says of places that nobody has that they are nobody's. */
static void leave_out(uint64_t first, uint64_t end)
{
	for (; first < end; first++)
		pool_name((uint32_t)first, 1, TRACE_PLACE_DIRECTORY, 0, 0);
}

static long take(uint32_t places, bool *backed)
{
	struct trace_head *head = pool_head();
	/* Relaxed: nothing is there yet that this would order. Any member can have written it: see pool.h. */
	uint32_t first = __atomic_load_n(&head->places, __ATOMIC_RELAXED);
	long r;

	for (int i = 0; i < TAKES; i++) {
		uint64_t begin = fit(first, places), last = begin + places;
		if (first < pool.first || first > pool.places_max)
			return -EBADMSG;
		if (places >= POOL_BLOCK)
			return -ENOBUFS;
		/* The process might have little memory when it started, or has given back what it did not use. */
		if (last > pool_most_places())
			return pool.is_short || last <= pool.places_max ? -ENOMEM : -ENOBUFS;
		if ((r = reach(last, backed)) || (r = make_words((uint32_t)begin)))
			return r;
		const uint64_t from = first;
		/* Relaxed, as above. */
		if (__atomic_compare_exchange_n(
			    &head->places, &first, (uint32_t)last, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			leave_out(from, begin);
			return (long)begin;
		}
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

static long take_new(uint32_t places, bool *backed)
{
	long first = take(places, backed);

	if (first < 0 || is_nearly_full((uint64_t)first))
		__atomic_fetch_add(&pool_head()->short_of, 1, __ATOMIC_RELAXED); /* relaxed: a hint */
	return first;
}

long pool_take(uint32_t places)
{
	return take_new(places, NULL);
}

long pool_take_half(bool *backed)
{
	return take_new(1, backed);
}

/*
 * Can the place's word be read? On a full tmpfs to read a hole raises SIGBUS, too. Where that is not known the kernel
 * is asked for one of all that are named, so that it costs little whatever a member names.
 */
static bool has_word(uint32_t place, bool *asked)
{
	uint64_t block = place & -POOL_BLOCK;

	/* Relaxed, as above. */
	if (block < __atomic_load_n(&pool.worded, __ATOMIC_RELAXED))
		return true;
	if (*asked || confined())
		return false;
	*asked = true;
	return !pool_make_accessible((block + 1) * pool.place_size) &&
	       (pool_reaches(block + 1) || !pool_look_for_end(block + 1)) && !make_words(place);
}

/* A place that was given back, or -ENOENT. */
static long take_given(struct trace_head *head)
{
	bool asked = false;

	/* Relaxed: where it is seen late a new place is taken. */
	if (__atomic_load_n(&head->given, __ATOMIC_RELAXED) <= __atomic_load_n(&head->taken_again, __ATOMIC_RELAXED))
		return -ENOENT;
	for (uint32_t i = 0; i < TRACE_FREE; i++) {
		uint32_t place = __atomic_load_n(&head->free[i], __ATOMIC_RELAXED); /* relaxed: only named there */
		uint64_t word = TRACE_PLACE(TRACE_PLACE_FREE, 0, 0);
		if (place < pool.first || place >= pool_most_places() || place % POOL_BLOCK == 0 ||
			!has_word(place, &asked))
			continue;
		/* Relaxed: see below. */
		if (__atomic_load_n(words(place), __ATOMIC_RELAXED) != word)
			continue;
		uint64_t end = place + 1ull;
		/* No growing: it was somebody's. Else a hole would be stored to: on a full disk that is a SIGBUS. */
		if (pool_make_accessible(end * pool.place_size) ||
			(!pool_reaches(end) && (confined() || pool_look_for_end(end))))
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

long pool_take_any(bool *used, bool *backed)
{
	long place = take_given(pool_head());

	*used = place >= 0;
	return place >= 0 ? place : take_new(1, backed);
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
