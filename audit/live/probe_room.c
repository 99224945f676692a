/* SPDX-License-Identifier: MIT */
#include "audit/live/probe_room.h"

#include <sys/mman.h> /* PROT_READ */

#include "runtime/base/arena.h"
#include "runtime/base/maps.h"
#include "x86_64/confined.h"
#include "x86_64/pages.h"
#include "x86_64/stub.h"
#include "x86_64/sys.h"

#define PAGE	  4096ul
#define GRANULE	  16ul
#define MOST	  (64ul << 20)
#define MAPPINGS  4096
#define LOWEST	  0x10000ul
#define HIGHEST	  (1ul << 47)
#define SPARE	  (64ul << 10) /* an extent's size, where its place may be anywhere in a MiB */
#define WIDE	  (1ul << 20)
#define HEAP_GROWS  (256ul << 20)
#define STACK_GROWS (64ul << 20)
#define TRIES	  64

struct extent {
	struct extent *next;
	struct stub_pages pages;
	uint32_t granules, taken, first; /* first: none before it is free */
	uint32_t room;			 /* words of `used` */
	bool sealed;
	uint64_t used[]; /* a bit for each granule */
};

/* All under the process lock. */
static struct arena memory; /* for as long as the process lives */
static struct extent *extents, *spare;
static uint64_t bytes_mapped, mappings;

/* Of a pass. */
static struct {
	struct arena memory;
	struct taken {
		uint64_t low, high;
	} *taken; /* addresses of others, in order */
	size_t count;
	bool looked, known;
	bool opened;
	int process; /* /proc/self/mem, if it was opened; or -errno */
} pass;

static uint64_t start_of(const struct extent *e)
{
	return (uint64_t)(uintptr_t)e->pages.start;
}

static bool is_used(const struct extent *e, uint64_t granule)
{
	return e->used[granule / 64] >> granule % 64 & 1;
}

/* A child that another thread forks meanwhile, the partner, finds an extent in one list, or in none. */
static void in_order(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* see above */
}

/* ---- extents ---- */

static void keep_spare(struct extent *e)
{
	in_order();
	e->next = spare;
	in_order();
	spare = e;
}

static struct extent *new_extent(size_t size)
{
	const uint32_t words = (uint32_t)((size / GRANULE + 63) / 64);
	struct extent **from = &spare, *e;

	while (*from && (*from)->room < words)
		from = &(*from)->next;
	e = *from;
	if (e)
		*from = e->next;
	else if ((e = arena_alloc(&memory, sizeof(*e) + words * sizeof(e->used[0]))))
		e->room = words;
	if (!e)
		return NULL;
	*e = (struct extent){ .granules = (uint32_t)(size / GRANULE), .room = e->room };
	sys_fill(e->used, 0, e->room * sizeof(e->used[0]));
	return e;
}

static void add_extent(struct extent *e)
{
	bytes_mapped += e->pages.size;
	mappings++;
	e->next = extents;
	in_order();
	extents = e;
}

static void remove_extent(struct extent *e)
{
	struct extent **from = &extents;

	while (*from != e)
		from = &(*from)->next;
	*from = e->next;
	bytes_mapped -= (uint64_t)e->granules * GRANULE;
	mappings--;
	stub_unmap(&e->pages);
	keep_spare(e);
}

static void mark(struct extent *e, uint64_t first, uint64_t count, bool used)
{
	for (uint64_t i = first; i < first + count; i++)
		if (used)
			e->used[i / 64] |= 1ull << i % 64;
		else
			e->used[i / 64] &= ~(1ull << i % 64);
	e->taken += used ? (uint32_t)count : -(uint32_t)count;
	if (!used && first < e->first)
		e->first = (uint32_t)first;
	while (used && e->first < e->granules && is_used(e, e->first))
		e->first++;
}

static uint64_t granules_of(size_t size)
{
	return (size + GRANULE - 1) / GRANULE;
}

/* Takes room in an extent. Returns its address, or 0. */
static uint64_t take(struct extent *e, uint64_t low, uint64_t high, size_t size)
{
	const uint64_t start = start_of(e), need = granules_of(size);

	if (e->granules - e->taken < need || high < start || low >= start + e->granules * GRANULE)
		return 0;
	uint64_t first = low > start ? (low - start + GRANULE - 1) / GRANULE : 0, last = (high - start) / GRANULE;
	if (first < e->first)
		first = e->first;
	for (uint64_t i = first, free = 0; i < e->granules && i - free <= last; i++) {
		free = is_used(e, i) ? 0 : free + 1;
		if (free < need)
			continue;
		mark(e, i + 1 - need, need, true);
		return start + (i + 1 - need) * GRANULE;
	}
	return 0;
}

static struct extent *extent_of(uint64_t at)
{
	for (struct extent *e = extents; e; e = e->next)
		if (at - start_of(e) < e->granules * GRANULE)
			return e;
	return NULL;
}

bool probe_room_has(uint64_t at)
{
	return extent_of(at) != NULL;
}

void probe_room_give(uint64_t at, size_t size)
{
	struct extent *e = extent_of(at);

	if (!e)
		return;
	mark(e, (at - start_of(e)) / GRANULE, granules_of(at % GRANULE + size), false);
	if (!e->taken)
		remove_extent(e);
}

/* ---- places for new ones ---- */

/* Adds a mapping to the list, which has room for it, or makes the last one longer. */
static void note_taken(uint64_t low, uint64_t high)
{
	if (pass.count && low <= pass.taken[pass.count - 1].high) {
		if (high > pass.taken[pass.count - 1].high)
			pass.taken[pass.count - 1].high = high;
		return;
	}
	pass.taken[pass.count++] = (struct taken){ low, high };
}

static void note_mapping(const struct mapping *m)
{
	uint64_t low = m->low, high = m->high;

	if (m->is_heap)
		high += HEAP_GROWS;
	if (m->is_stack)
		low -= low < STACK_GROWS ? low : STACK_GROWS;
	/* What lies in the part that the stack grows into was there before it. */
	while (pass.count && pass.taken[pass.count - 1].low >= low)
		pass.count--;
	note_taken(low, high);
}

/* Where the heap grows from: a page. There is no mapping of it yet where the program has not begun. */
static uint64_t heap_end(void)
{
	long end = sys_call(__NR_brk, 0, 0, 0, 0, 0, 0);

	return end > 0 ? (uint64_t)end & ~(PAGE - 1) : UINT64_MAX;
}

/*
 * Which addresses are taken in this process, up to 2 GiB around these. A filter of system calls that lets libraries be
 * opened need not know of the kernel's list.
 */
static void look(uint64_t low, uint64_t high)
{
	enum { AT_ONCE = 256 };
	static struct mapping mapping[AT_ONCE] SYS_LARGE; /* the lock guards it */
	const uint64_t end = HIGHEST - high > 1ul << 32 ? high + (1ul << 32) : HIGHEST;
	uint64_t from = low > 1ul << 32 ? low - (1ul << 32) : 0, heap = confined() ? UINT64_MAX : heap_end();
	size_t room = 0;
	long n = AT_ONCE;

	pass.looked = true;
	pass.count = 0;
	while (n == AT_ONCE && from < end && !confined() && (n = maps_list(from, end, mapping, AT_ONCE)) >= 0) {
		if (pass.count + AT_ONCE + 2 > room) {
			room = 2 * room + AT_ONCE + 2;
			struct taken *list = arena_alloc(&pass.memory, room * sizeof(*list));
			if (!list)
				return;
			sys_copy(list, pass.taken, pass.count * sizeof(*list));
			pass.taken = list;
		}
		for (long i = 0; i < n; i++) {
			if (mapping[i].low >= heap) {
				note_taken(heap, heap + HEAP_GROWS);
				heap = UINT64_MAX;
			}
			note_mapping(&mapping[i]);
			from = mapping[i].high;
		}
		if (n < AT_ONCE && heap < end)
			note_taken(heap, heap + HEAP_GROWS);
	}
	pass.known = n >= 0 && n < AT_ONCE;
}

/* Maps the pages of a stub that begins at `at`, and more behind them up to `limit`. */
static struct extent *map_at(uint64_t at, size_t size, uint64_t limit, uint64_t most)
{
	const uint64_t low = at & ~(PAGE - 1);
	uint64_t end = (at + size + PAGE - 1) & ~(PAGE - 1);

	if (low < LOWEST || end > HIGHEST || end > limit)
		return NULL;
	if (end - low < most)
		end = limit - low < most ? limit & ~(PAGE - 1) : low + most;
	struct extent *e = new_extent(end - low);
	if (!e)
		return NULL;
	if (!stub_map_near(&e->pages, low, at, at, (uint32_t)((end - low) / STUB_ENTRY_SIZE))) {
		keep_spare(e);
		return NULL;
	}
	add_extent(e);
	return e;
}

/* Of the free addresses from `from` to `to`, the first one of those from low to high at which a stub fits. */
static struct extent *map_gap(uint64_t from, uint64_t to, uint64_t low, uint64_t high, size_t size)
{
	uint64_t at = ((from > low ? from : low) + GRANULE - 1) & -GRANULE;

	return at <= high && at + size <= to ? map_at(at, size, to, high - low >= WIDE ? SPARE : 0) : NULL;
}

/* Where few addresses will do. */
static struct extent *map_between(uint64_t low, uint64_t high, size_t size)
{
	uint64_t from = LOWEST;
	unsigned tries = 0;

	if (!pass.looked)
		look(low, high);
	if (!pass.known) {
		/* One page after another: the kernel says of each whether it is free. */
		for (; low <= high && tries < TRIES / 4; tries++, low = (low & ~(PAGE - 1)) + PAGE) {
			struct extent *e = map_at((low + GRANULE - 1) & -GRANULE, size, HIGHEST, 0);
			if (e)
				return e;
		}
		return NULL;
	}
	for (size_t i = 0; i <= pass.count && tries < TRIES; i++) {
		uint64_t to = i < pass.count ? pass.taken[i].low : HIGHEST;
		if (to > low && from <= high && to > from) {
			struct extent *e = map_gap(from, to, low, high, size);
			tries++;
			if (e)
				return e;
		}
		from = i < pass.count ? pass.taken[i].high : from;
		if (from > high)
			break;
	}
	return NULL;
}

static struct extent *map_beside(const struct probe_near *near, size_t size)
{
	const uint64_t wish = near->size > size ? near->size : size;
	const uint64_t bytes = (wish + PAGE - 1) & ~(PAGE - 1);
	struct extent *e = bytes_mapped + bytes <= MOST ? new_extent(bytes) : NULL;

	if (!e)
		return NULL;
	if (!stub_map_copies(&e->pages, near->place, near->low, near->high, 0, bytes)) {
		keep_spare(e);
		return NULL;
	}
	add_extent(e);
	return e;
}

static enum probe_refusal find(uint64_t low, uint64_t high, size_t size, struct probe_near *near, uint64_t *at)
{
	struct extent *e;

	for (e = extents; e; e = e->next)
		/* Where system calls are filtered, nothing can be put into them any more. */
		if ((!e->sealed || !confined()) && (*at = take(e, low, high, size)))
			return PROBE_USABLE;
	if (mappings >= MAPPINGS || bytes_mapped + 2 * PAGE > MOST)
		return PROBE_ROOM;
	e = near ? map_beside(near, size) : map_between(low, high, size);
	if (e && (*at = take(e, low, high, size)))
		return PROBE_USABLE;
	if (e)
		remove_extent(e);
	return near ? PROBE_ROOM : PROBE_TAKEN;
}

enum probe_refusal probe_room_find(uint64_t low, uint64_t high, size_t size, struct probe_near *near, uint64_t *at)
{
	if (low < LOWEST)
		low = LOWEST;
	if (high > HIGHEST)
		high = HIGHEST;
	if (low > high)
		return PROBE_TAKEN;
	if (((low + GRANULE - 1) & -GRANULE) <= high)
		return find(low, high, size, near, at);
	/* No granule begins there: it lies within one, whose first bytes are nobody's then. */
	const uint64_t within = low % GRANULE;
	enum probe_refusal why = find(low - within, low - within, within + size, near, at);
	*at += why ? 0 : within;
	return why;
}

/* ---- writing ---- */

static bool replace_pages(uint64_t at, const void *bytes, size_t size)
{
	const uint64_t low = at & ~(PAGE - 1);
	struct pages pages;

	if (pages_begin(&pages, low, ((at + size + PAGE - 1) & ~(PAGE - 1)) - low))
		return false;
	if (!pages_put(&pages, at, bytes, size))
		return pages_end(&pages, PROT_READ | PROT_EXEC) == 0;
	pages_drop(&pages);
	return false;
}

bool probe_room_put(uint64_t at, const void *bytes, size_t size)
{
	const struct extent *e = extent_of(at);

	if (!e)
		return false;
	if (!e->sealed) {
		sys_copy((void *)(uintptr_t)at, bytes, size);
		return true;
	}
	if (!pass.opened)
		pass.process = pages_open();
	pass.opened = true;
	return (pass.process >= 0 && !pages_write(pass.process, at, bytes, size)) || replace_pages(at, bytes, size);
}

void probe_room_seal(void)
{
	for (struct extent *e = extents, *next; e; e = next) {
		next = e->next;
		if (e->sealed)
			continue;
		e->sealed = true;
		if (stub_finish_copies(&e->pages))
			remove_extent(e);
	}
}

void probe_room_begin(void)
{
	pass.looked = pass.known = false;
	pass.taken = NULL;
	pass.count = 0;
	pass.opened = false;
}

void probe_room_end(void)
{
	if (pass.opened && pass.process >= 0)
		sys_close(pass.process);
	pass.opened = false;
	arena_free(&pass.memory);
}
