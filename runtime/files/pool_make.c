/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* MADV_DONTDUMP */
#include "runtime/files/pool_make.h"

#include <errno.h>	  /* EFBIG */
#include <stdbool.h>
#include <sys/mman.h>	  /* MAP_SHARED */
#include <sys/resource.h> /* RLIMIT_AS */

#include "runtime/base/identity.h"
#include "runtime/files/output.h"
#include "runtime/files/pool.h"
#include "runtime/files/pool_grow.h"
#include "runtime/files/pool_private.h"
#include "x86_64/sys.h"

#define ADDRESSES \
	(1ull << 38) /* mapped, if they may be: what ThreadSanitizer leaves between its own ranges, and ASLR */
#define FAR	     (1ull << 36) /* below the module: what is mapped later comes in between, stubs too (stub.h) */
#define APART	     (1ull << 30) /* the kernel wants some room for its alignment, though the address is given */
#define LARGE_PAGE   (2ul << 20) /* the file's are mapped as such where its place is a multiple, too */
#define LIMIT_SHARE  16		  /* of RLIMIT_AS: the program needs the rest */
#define PLACES_LEAST 8
#define PLACES_FEW   32		  /* that there should be where files may not become large */

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Maps it where it is in nobody's way; NULL: that is taken. We lie among the libraries, since ld.so maps us as one.
 * Whether the kernel maps downwards from there or, in the old layout, upwards: below is what it reaches last, or never.
 */
static uint8_t *map_far(int fd, uint64_t place_size, uint64_t size, int flags)
{
	uint64_t here = (uint64_t)(uintptr_t)&pool, each = size + APART;
	uint64_t alignment = place_size > LARGE_PAGE ? place_size : LARGE_PAGE;

	/* A child that makes a family of its own has inherited the first place. */
	for (uint64_t i = 0; i < 3 && here / 2 > FAR + i * each + size; i++) {
		uint8_t *at = (uint8_t *)(uintptr_t)((here - FAR - i * each - size) & -alignment);
		uint8_t *p = sys_mmap(at, size, PROT_NONE, flags, fd, 0);
		if (p == at)
			return p;
		if (!sys_is_error(p))
			sys_munmap(p, size);
	}
	return NULL;
}

/*
 * Maps the file without access, so that place 0 lies at a multiple of the size. Newer kernels find such an address by
 * themselves.
 */
static long map(int fd, uint64_t place_size, uint64_t size)
{
	const int flags = MAP_SHARED | MAP_NORESERVE;
	uint8_t *p = map_far(fd, place_size, size, flags);

	if (!p)
		p = sys_mmap(NULL, size, PROT_NONE, flags, fd, 0);
	if (!sys_is_error(p) && (uint64_t)(uintptr_t)p & (place_size - 1)) {
		sys_munmap(p, size);
		uint8_t *room = sys_mmap(
			NULL, size + place_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (sys_is_error(room))
			return (long)(intptr_t)room;
		uint64_t low = (uint64_t)(uintptr_t)room, start = (low + place_size - 1) & -place_size;
		p = sys_mmap((void *)(uintptr_t)start, size, PROT_NONE, flags | MAP_FIXED, fd, 0);
		if (sys_is_error(p)) {
			sys_munmap(room, size + place_size);
		} else {
			if (start > low)
				sys_munmap(room, start - low);
			if (start < low + place_size)
				sys_munmap((void *)(uintptr_t)(start + size), low + place_size - start);
		}
	}
	if (sys_is_error(p))
		return (long)(intptr_t)p;
	pool.mapped = p;
	pool.addresses = size;
	pool.accessible = 0;
	return 0;
}

/* As many addresses as there are, down to `least`. */
static long map_most(int fd, uint64_t place_size, uint64_t least)
{
	uint64_t size = ADDRESSES, limit = pool_limit_of(RLIMIT_AS);
	long r;

	while (limit != RLIM_INFINITY && size > least && size > limit / LIMIT_SHARE)
		size /= 2;
	size = size > least ? size : least;
	while ((r = map(fd, place_size, size)) && size > least)
		size /= 2;
	return r;
}

/* As large as the file may be without asking again, down to `least`. Returns 0 or -errno. */
static long size_most(uint64_t size, uint64_t least, uint64_t *got)
{
	while (size >= least && !pool_may_reach(size))
		size /= 2;
	*got = size;
	return size >= least ? 0 : -EFBIG;
}

void pool_inherited(void)
{
	__atomic_store_n(&pool.inherited, 1, __ATOMIC_RELAXED); /* relaxed: the child's memory is copied later */
}

void pool_forks_unknown(void)
{
	__atomic_store_n(&pool.unknown, 1, __ATOMIC_RELAXED); /* relaxed, as above */
}

bool pool_is_shared(void)
{
	/* Relaxed: a fork that another thread makes at this moment may come later as well. */
	return pool.maker != identity_generation() || __atomic_load_n(&pool.inherited, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&pool.unknown, __ATOMIC_RELAXED); /* relaxed, as above */
}

long pool_leave(void)
{
	static struct {
		void *at;
		uint64_t size;
	} left;
	uint64_t size = __atomic_load_n(&pool.accessible, __ATOMIC_RELAXED); /* relaxed: there is no other thread */
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;

	/* First: a child that another thread forks meanwhile is no member. Release, as in pool_open(). */
	__atomic_store_n(&pool.base, NULL, __ATOMIC_RELEASE);
	void *p = sys_mmap(pool.mapped, size, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (sys_is_error(p)) {
		pool_open();
		return (long)(intptr_t)p;
	}
	if (pool.addresses > size)
		sys_munmap(pool.mapped + size, pool.addresses - size);
	if (left.size)
		sys_munmap(left.at, left.size);
	left.at = p;
	left.size = size;
	sys_madvise(p, size, MADV_DONTDUMP);
	return 0;
}

uint64_t pool_chunk_size(uint64_t wanted)
{
	return at_most(wanted, pool_limit_of(RLIMIT_FSIZE) / (2 * PLACES_FEW));
}

_Static_assert(TRACE_META_MIN == PLACES_LEAST * 2 * TRACE_CHUNK_MIN, "as the format says");
_Static_assert(POOL_BEGUN <= TRACE_CHUNK_MIN, "the lower half of place 0 has room for it");

/*
 * Place 0. Most processes need its chunk, or counters, and nothing is cheaper than to reserve that with the same call.
 * Where it fails the file has holes there until one is asked for.
 */
static long make_first(int fd, bool *backed)
{
	long half = (long)pool.place_size / 2;

	*backed = !sys_call(__NR_fallocate, fd, 0, half, half, 0, 0);
	return *backed ? 0 : sys_call(__NR_ftruncate, fd, 2 * half, 0, 0, 0, 0);
}

long pool_map(int fd, uint64_t chunk_size, bool *backed)
{
	uint64_t place_size = 2 * chunk_size, least = PLACES_LEAST * place_size, size = 0;
	struct stat st;
	long r = sys_fstat(fd, &st);

	__atomic_store_n(&pool.base, NULL, __ATOMIC_RELAXED); /* relaxed: of a child alone, which can't be a member */
	if (r || (r = map_most(fd, place_size, least)))
		return r;
	pool.place_size = place_size;
	pool.maker = identity_generation();
	__atomic_store_n(&pool.inherited, 0, __ATOMIC_RELAXED); /* relaxed, as base */
	pool.place = output_of(&st);
	r = size_most(at_most(POOL_FAR > least ? POOL_FAR : least, pool.addresses), least, &size);
	/* Without it the first store into a hole reads 8 MiB ahead: 10 ms. */
	sys_madvise(pool.mapped, pool.addresses, MADV_RANDOM);
	sys_madvise(pool.mapped, pool.addresses, MADV_DONTDUMP);
	uint64_t places = at_most(pool.addresses / place_size, TRACE_PLACE_MAX);
	uint64_t start = (uint64_t)(uintptr_t)pool.mapped;
	if (!r)
		r = make_first(fd, backed);
	if (!r)
		r = pool_make_accessible(place_size);
	if (!r)
		r = pool_populate(start, start + POOL_BEGUN);
	if (r) {
		sys_munmap(pool.mapped, pool.addresses);
		return r;
	}
	pool.directory = (struct trace_directory){ place_size, TRACE_HEAD_SIZE, TRACE_HEAD_SIZE + POOL_BLOCK * 8,
		POOL_BLOCK };
	pool.places_max = (uint32_t)places;
	pool.first = pool.end = 1;
	pool.worded = POOL_BLOCK;
	pool.is_short = pool.addresses < ADDRESSES;
	struct trace_head *head = pool_head();
	head->place_size = place_size;
	head->directory = pool.directory.words;
	head->handover = pool.directory.handovers;
	head->block = pool.directory.block;
	head->places_max = pool.places_max;
	head->places_end = pool.end;
	head->places_likely = at_most(size / place_size, places);
	head->size = TRACE_SIZE_PLACES;
	head->places = pool.first;
	return 0;
}
