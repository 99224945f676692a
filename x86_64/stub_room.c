/* SPDX-License-Identifier: MIT */
#include "x86_64/stub_room.h"

#include <sys/mman.h>	  /* PROT_NONE */
#include <sys/resource.h> /* struct rlimit */

#include "x86_64/confined.h"
#include "x86_64/sys.h"

#define MOST  (384ul << 20)
#define LEAST (32ul << 20)
#define UNIT  (64ul << 10) /* a block takes whole ones: of addresses, not of memory */
#define UNITS (MOST / UNIT)

static const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

static struct {
	uint64_t low, high; /* both 0: none */
	uint64_t taken[UNITS / 64];
	int asked;
} room SYS_LARGE;

static int is_limited(void)
{
	struct rlimit limit;

	return sys_call(__NR_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0) || limit.rlim_cur != RLIM_INFINITY;
}

/* gdb's gcore writes out all that is mapped, without access or not: unless it is told not to. */
static void leave_out_of_dumps(void *at, size_t size)
{
	sys_madvise(at, size, MADV_DONTDUMP);
}

void stub_room_keep(uint64_t below)
{
	if (room.asked)
		return;
	room.asked = 1;
	if (confined() || is_limited())
		return;
	for (uint64_t size = MOST; size >= LEAST; size /= 2) {
		uint64_t low = (below - size) & -UNIT;
		void *at = (void *)(uintptr_t)low;
		if (below / 2 > size && !sys_mmap_at(at, size, PROT_NONE)) {
			leave_out_of_dumps(at, size);
			room.low = low;
			room.high = low + size;
			return;
		}
	}
}

/* The units of this range; 0: it is not in the room. */
static int units_of(uint64_t at, size_t size, uint64_t *first, uint64_t *end)
{
	if (at < room.low || at >= room.high || size > room.high - at)
		return 0;
	*first = (at - room.low) / UNIT;
	*end = (at + size - room.low + UNIT - 1) / UNIT;
	return 1;
}

static int is_taken(uint64_t unit)
{
	return room.taken[unit / 64] >> unit % 64 & 1;
}

static void mark(uint64_t first, uint64_t end, int taken)
{
	for (uint64_t i = first; i < end; i++) {
		if (taken)
			room.taken[i / 64] |= 1ull << i % 64;
		else
			room.taken[i / 64] &= ~(1ull << i % 64);
	}
	/* No partner but a child that another thread forks meanwhile: what is mapped there it finds taken. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Is nothing there but what nobody ever used? Not so: the program has unmapped it, or mapped something over it. */
static int is_untouched(uint64_t at, size_t size)
{
	enum { PAGE = 4096, MANY = 512 };
	uint8_t there[MANY];

	for (uint64_t end = at + size, next; at < end; at = next) {
		next = end - at > MANY * PAGE ? at + MANY * PAGE : end;
		if (sys_call(__NR_mincore, (long)at, (long)(next - at), (long)&there, 0, 0, 0))
			return 0;
		for (uint64_t i = 0; i * PAGE < next - at; i++)
			if (there[i] & 1)
				return 0;
	}
	return 1;
}

uint8_t *stub_room_take(uint64_t at, size_t size)
{
	void *to = (void *)(uintptr_t)at;
	uint64_t first, end;

	if (!units_of(at, size, &first, &end))
		return NULL;
	for (uint64_t i = first; i < end; i++)
		if (is_taken(i))
			return NULL;
	/* A filter of system calls that lets libraries be opened need not know of mincore. */
	if (!confined() && !is_untouched(at, size))
		return NULL;
	mark(first, end, 1);
	if (sys_mmap(to, size, PROT_READ | PROT_WRITE, (flags & ~MAP_NORESERVE) | MAP_FIXED, -1, 0) == to)
		return to;
	mark(first, end, 0);
	return NULL;
}

int stub_room_give(uint8_t *start, size_t size)
{
	uint64_t first, end;

	if (!units_of((uint64_t)(uintptr_t)start, size, &first, &end) || !is_taken(first))
		return 0;
	/* A filter of system calls that lets libraries be closed need know of munmap alone. It stays taken. */
	if (confined())
		return 0;
	/* Where that fails it stays as it is, and taken. */
	if (sys_mmap(start, size, PROT_NONE, flags | MAP_FIXED, -1, 0) == start) {
		leave_out_of_dumps(start, size);
		mark(first, end, 0);
	}
	return 1;
}

void stub_room_shrink(void)
{
	uint64_t low = room.low, units = (room.high - room.low) / UNIT;

	/* Blocks that were taken are like any other mapping from here on. */
	room.asked = 1;
	room.low = room.high = 0;
	for (uint64_t i = 0, end; i < units; i = end + 1) {
		for (end = i; end < units && !is_taken(end); end++)
			;
		if (end > i)
			sys_munmap((void *)(uintptr_t)(low + i * UNIT), (end - i) * UNIT);
	}
}
