/* SPDX-License-Identifier: MIT */
#include "audit/live/entry.h"

#include <errno.h>    /* ENOMEM */
#include <stdbool.h>
#include <sys/mman.h> /* PROT_READ */

#include "audit/index/walk.h"
#include "audit/live/announce.h"
#include "audit/live/entry_calls.h"
#include "audit/live/entry_copy.h"
#include "audit/live/entry_stub.h"
#include "audit/live/load_code.h"
#include "audit/live/probe.h"
#include "audit/live/unwinder.h"
#include "runtime/base/search.h"
#include "runtime/process/thread.h"
#include "x86_64/sys.h"

/* The reasons of an index have numbers of their own in a trace. */
enum { TRACE_REASON_INDEX_USABLE = TRACE_REASON_TRACED };
static const uint8_t reason_in_trace[INDEX_REASON_COUNT] = {
#define X(number, NAME, phrase) [number] = TRACE_REASON_INDEX_##NAME,
	INDEX_REASONS(X)
#undef X
};

/* ---- which functions ---- */

static const struct site_range *range_of(const struct object *object)
{
	return &object->sites.of[TRACE_KIND_ENTRY];
}

/* A child that another thread forks meanwhile, the partner, has what was stored before, or nothing after it. */
static void in_order(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* see above */
}

/* Each store may be made twice. Who finds a site in the lists finds its function. */
void entry_settle(struct object *object)
{
	struct site_set *set = &object->sites;
	struct site_range *range = &set->of[TRACE_KIND_ENTRY];

	if (!object->then.whole)
		return;
	in_order();
	set->functions = object->then.all;
	range->sites = range->functions = set->functions - range->function;
	set->sites = range->site + range->sites;
	in_order();
	if (object->by_address != object->then.by_address) {
		object->spare_by_address = object->by_address;
		in_order();
		object->by_address = object->then.by_address;
	}
	if (object->functions != object->then.functions) {
		object->spare_functions = object->functions;
		in_order();
		object->functions = object->then.functions;
	}
	in_order();
	object->usable = object->then.usable;
	object->usable_functions = object->then.usable_functions;
	in_order();
	object->then.whole = 0;
}

/* Where the bytes begin and end that a jump at the function's entry needs to itself. */
static int bytes_of(const struct object *object, const struct index_function *f, uint64_t *site, uint64_t *from,
	uint64_t *end)
{
	if (!index_site(&object->index, f, site, from))
		return 0;
	*end = *from + f->originals;
	return 1;
}

/* Index of the first usable site, in order of address, at or behind this one. */
static uint32_t find_site(const struct object *object, uint64_t address)
{
	const struct site *site = object->sites.site;
	return SEARCH(i, 0, object->usable, site[object->by_address[i]].address < address);
}

bool entry_is_covered(const struct object *object, uint64_t from, uint64_t end)
{
	uint32_t i = find_site(object, from);
	const struct site *site = object->sites.site;

	if (i && site[object->by_address[i - 1]].address + site[object->by_address[i - 1]].length > from)
		return true;
	return i < object->usable && site[object->by_address[i]].address -
		sled_head((enum sled_type)site[object->by_address[i]].type) < end;
}

/* Can a jump stand at its entry? end: up to here, others took the bytes before. */
static enum trace_reason judge(const struct object *object, const struct index_function *f, uint64_t taken)
{
	uint64_t site, from, end;

	if (f->reason >= INDEX_REASON_COUNT)
		return TRACE_REASON_INDEX_DAMAGED;
	if (f->reason != INDEX_REASON_USABLE)
		return (enum trace_reason)reason_in_trace[f->reason];
	if (!bytes_of(object, f, &site, &from, &end) || from < taken || !index_template(&object->index, f))
		return TRACE_REASON_INDEX_DAMAGED;
	if (unwinder_shadow_stack && f->flags & INDEX_DISPLACES_CALL)
		return TRACE_REASON_SHADOW_STACK;
	if (probe_covers(object, from, end))
		return TRACE_REASON_PROBE;
	return entry_is_covered(object, from, end) ? TRACE_REASON_OTHER_SITE : TRACE_REASON_TRACED;
}

/* Does the set have the function, as of kind entry or with a site of another kind? */
static int has(const struct object *object, uint64_t address)
{
	return load_code_function_at(object, address) >= 0;
}

int entry_take(struct object *object, const struct index *index)
{
	if (object->index.head || (!object->scanned && (object->marks || object->sites.functions)))
		return 0;
	object->index = *index;
	object->counts[TRACE_KIND_ENTRY][TRACE_REASON_NOT_SELECTED] += (uint32_t)index->functions;
	/* In later loads, too, these functions are all that is looked for. */
	object->scanned = 1;
	return 1;
}

size_t entry_number(const struct object *object, uint32_t function)
{
	const uint8_t *head = (const uint8_t *)object->index.head;
	const uint8_t *at = (const uint8_t *)entry_of(object, function)->index;

	return ((size_t)(at - head) - object->index.function) / sizeof(struct index_function);
}

int entry_wish_begin(struct entry_wish *wish, const struct object *object, unsigned kind, struct arena *arena)
{
	wish->words = object->index.functions / 64 + 1;
	wish->kind = kind;
	uint64_t *bits = arena_alloc(arena, 5 * wish->words * sizeof(*bits));
	if (!bits)
		return -ENOMEM;
	wish->selected = bits;
	wish->on = bits + wish->words;
	wish->ready = bits + 2 * wish->words;
	wish->below = bits + 3 * wish->words;
	wish->all = entry_calls_has(kind) ? bits + 4 * wish->words : NULL;
	if (wish->all)
		entry_calls_mark(object, kind, wish->all);
	return 0;
}

void entry_wish_mark(const struct object *object, const struct rules_pattern *pattern, int value, uint64_t *bits,
	const uint64_t *only)
{
	const struct rules_pattern any = { .function = "*", .library = pattern->library };
	const struct rules_pattern named = { .function = pattern->function };
	struct index_walk walk;
	const char *name;
	size_t n;

	if (!rules_match(&any, NULL, object->path, object->soname))
		return;
	index_match(&object->index, pattern->function, &walk);
	while (index_next(&object->index, &walk, &n, &name) > 0) {
		if (!rules_match(&named, name, NULL, NULL) || (only && !(only[n / 64] >> n % 64 & 1)))
			continue;
		if (value)
			bits[n / 64] |= 1ull << n % 64;
		else
			bits[n / 64] &= ~(1ull << n % 64);
	}
}

static bool has_bit(const uint64_t *bits, size_t n)
{
	return bits[n / 64] >> n % 64 & 1;
}

/* A wanted function that can be used. */
struct pick {
	const struct index_function *function;
	uint8_t marks, counted;
};

static uint64_t wanted_word(const struct entry_wish *wish, size_t i)
{
	return wish->all ? wish->all[i] : wish->selected[i] | wish->on[i] | wish->ready[i];
}

static size_t count_wanted(const struct entry_wish *wish)
{
	size_t n = 0;

	for (size_t i = 0; i < wish->words; i++)
		for (uint64_t word = wanted_word(wish, i); word; word &= word - 1)
			n++;
	return n;
}

static struct pick choose(const struct entry_wish *wish, size_t n, const struct index_function *f)
{
	int on = has_bit(wish->on, n);

	return (struct pick){
		.function = f,
		.marks = (uint8_t)((on ? FUNCTION_ON : 0) | (has_bit(wish->ready, n) ? FUNCTION_READY : 0) |
				   (has_bit(wish->below, n) ? FUNCTION_BELOW : 0)),
		.counted = (uint8_t)(on			      ? TRACE_REASON_TRACED
				     : has_bit(wish->selected, n) ? TRACE_REASON_DISABLED
								  : TRACE_REASON_NOT_SELECTED),
	};
}

static const struct index_function *function_of(const struct object *object, unsigned kind, size_t number)
{
	return entry_calls_has(kind) ? entry_calls_site(object, kind, number)
				     : index_function(&object->index, number);
}

/* Fills in `pick`, which has room for all that are wanted, and counts. Returns their number. */
static uint32_t pick_functions(const struct object *object, const struct entry_wish *wish, struct pick *pick,
	uint32_t counts[TRACE_REASON_COUNT])
{
	uint64_t taken = 0, site, from;
	uint32_t n = 0;

	for (size_t i = 0; i < wish->words; i++) {
		for (uint64_t word = wanted_word(wish, i); word; word &= word - 1) {
			size_t number = i * 64 + (size_t)__builtin_ctzll(word);
			const struct index_function *f = function_of(object, wish->kind, number);
			enum trace_reason reason = f ? judge(object, f, taken) : TRACE_REASON_INDEX_DAMAGED;
			if (f && has(object, f->address))
				continue;
			/* By address, each once; otherwise it is damaged. */
			if (f && n && f->address <= pick[n - 1].function->address)
				reason = TRACE_REASON_INDEX_DAMAGED;
			if (reason) {
				counts[reason]++;
				continue;
			}
			pick[n] = choose(wish, number, f);
			counts[pick[n++].counted]++;
			bytes_of(object, f, &site, &from, &taken);
		}
	}
	return n;
}

/* Room for `size` bytes, of which the first `used` are those at `old`. */
static void *larger(struct arena *arena, const void *old, size_t used, size_t size)
{
	void *p = arena_alloc(arena, size);

	if (p && used)
		sys_copy(p, old, used);
	return p;
}

/* Makes room for more functions, each with one site, in all arrays. Returns 0 or -ENOMEM. */
static int make_room(struct object *object, uint32_t more)
{
	struct site_set *set = &object->sites;
	const struct site_range *range = range_of(object);
	uint32_t functions = set->functions + more, sites = set->sites + more;

	if (functions <= object->room_functions && sites <= object->room_sites)
		return 0;
	/* Where it grows a second time, it will again. */
	uint32_t spare = range->functions ? functions / 2 : 0;
	functions += spare;
	sites += spare;
	uint32_t own = range->functions, room = own + more + spare;
	struct arena *arena = &set->arena;
	struct site_function *function = larger(
		arena, set->function, set->functions * sizeof(*function), functions * sizeof(*function));
	struct site *site = larger(arena, set->site, set->sites * sizeof(*site), sites * sizeof(*site));
	uint8_t *marks = larger(arena, object->marks, set->functions, functions);
	uint8_t *counted = larger(arena, object->counted, set->functions, functions);
	struct entry_function *entries =
		larger(arena, object->entries, own * sizeof(*entries), room * sizeof(*entries));
	uint8_t(*original)[SLED_ORIGINAL_SIZE] = larger(
		arena, object->original[TRACE_KIND_ENTRY], own * sizeof(*original), room * sizeof(*original));
	uint32_t *by_address = arena_alloc(arena, sites * sizeof(*by_address));
	uint32_t *by_function = arena_alloc(arena, functions * sizeof(*by_function));
	uint32_t *spare_by_address = arena_alloc(arena, sites * sizeof(*by_address));
	uint32_t *spare_by_function = arena_alloc(arena, functions * sizeof(*by_function));

	if (!function || !site || !marks || !counted || !entries || !original || !by_address || !by_function ||
		!spare_by_address || !spare_by_function)
		return -ENOMEM;
	sys_copy(by_address, object->by_address, object->usable * sizeof(*by_address));
	sys_copy(by_function, object->functions, object->usable_functions * sizeof(*by_function));
	in_order();
	set->function = function;
	set->site = site;
	object->counted = counted;
	object->entries = entries;
	object->original[TRACE_KIND_ENTRY] = original;
	object->by_address = by_address;
	object->functions = by_function;
	object->marks = marks;
	object->spare_by_address = spare_by_address;
	object->spare_functions = spare_by_function;
	in_order();
	object->room_functions = functions;
	object->room_sites = sites;
	return 0;
}

/* Merges n indices at `old` with `more` ones from `first` on, whose items' addresses ascend, too. */
static void merge(uint32_t *to, const uint32_t *old, uint32_t n, uint32_t first, uint32_t more, const void *items,
	size_t stride)
{
	const char *base = items;

#define ADDRESS(i) (*(const uint64_t *)(base + (i)*stride))
	for (uint32_t i = 0, k = 0; i < n || k < more;) {
		if (k == more || (i < n && ADDRESS(old[i]) <= ADDRESS(first + k)))
			*to++ = old[i++];
		else
			*to++ = first + k++;
	}
#undef ADDRESS
}

static void put_function(struct object *object, unsigned kind, const struct pick *pick, uint32_t n, uint32_t s)
{
	struct site_set *set = &object->sites;
	const struct site_range *range = range_of(object);
	const struct index_function *f = pick->function;
	uint64_t site, from, end;
	uint8_t own[INDEX_ORIGINAL_MAX];
	int padding = f->form == INDEX_FORM_PADDING;

	bytes_of(object, f, &site, &from, &end);
	entry_calls_expect(object, f, from, own);
	set->function[n] = (struct site_function){
		.address = f->address, .size = f->size, .name = index_name(&object->index, f), .first = s, .count = 1,
		.kind = (uint8_t)(kind & 127),
	};
	set->site[s] = (struct site){
		.address = site, .length = f->length, .function = n,
		.type = !padding ? SLED_ENTRY : f->skip ? SLED_ENTRY_PADDING_CET : SLED_ENTRY_PADDING,
	};
	sled_keep((enum sled_type)set->site[s].type, own + (site - from),
		object->original[TRACE_KIND_ENTRY][s - range->site]);
	object->marks[n] = pick->marks;
	if (f->flags & (INDEX_ENTRY_ALONE | INDEX_NEVER_INTERCEPT | (object->unbound ? INDEX_ASKS : 0)))
		object->marks[n] |= FUNCTION_ENTRY;
	object->counted[n] = pick->counted;
	object->entries[n - range->function] = (struct entry_function){ .index = f };
}

static void put_functions(struct object *object, unsigned kind, const struct pick *pick, uint32_t n)
{
	struct site_set *set = &object->sites;
	uint32_t function = set->functions, site = set->sites;
	uint32_t *by_address = object->spare_by_address, *functions = object->spare_functions;

	for (uint32_t i = 0; i < n; i++)
		put_function(object, kind, &pick[i], function + i, site + i);
	merge(by_address, object->by_address, object->usable, site, n, &set->site->address, sizeof(*set->site));
	merge(functions, object->functions, object->usable_functions, function, n, &set->function->address,
		sizeof(*set->function));
	object->then.by_address = by_address;
	object->then.functions = functions;
	object->then.usable = object->usable + n;
	object->then.usable_functions = object->usable_functions + n;
	object->then.all = function + n;
	in_order();
	object->then.whole = 1;
	entry_settle(object);
}

int64_t entry_add(struct object *object, const struct entry_wish *wish, uint32_t counts[TRACE_REASON_COUNT])
{
	struct arena memory = { 0 };
	uint32_t own[TRACE_REASON_COUNT] = { 0 };
	size_t wanted = count_wanted(wish);
	int64_t r = 0;

	if (!wanted || wanted > UINT32_MAX / 64)
		return 0;
	entry_settle(object);
	if (!object->entries) {
		object->sites.of[TRACE_KIND_ENTRY].function = object->sites.functions;
		object->sites.of[TRACE_KIND_ENTRY].site = object->sites.sites;
	}
	struct pick *pick = arena_alloc(&memory, wanted * sizeof(*pick));
	uint32_t n = pick ? pick_functions(object, wish, pick, own) : 0;

	if (!pick || (n && make_room(object, n)))
		r = -ENOMEM;
	for (unsigned i = 0; r == 0 && i < TRACE_REASON_COUNT; i++)
		counts[i] += own[i];
	if (r == 0 && n) {
		put_functions(object, wish->kind, pick, n);
		r = n;
	}
	arena_free(&memory);
	return r;
}

/* ---- stubs and copies ---- */

bool entry_is_as_expected(const struct load *load, const struct index_function *f)
{
	uint64_t site, from, end, site_end, from_end;
	uint8_t own[INDEX_ORIGINAL_MAX];

	/* Code that may be executed only can't be compared. */
	if (!bytes_of(load->object, f, &site, &from, &end) || !(load_code_segment(load, site, &site_end) & PROT_READ) ||
		!load_code_segment(load, from, &from_end) || site_end != from_end || end > site_end)
		return false;
	entry_calls_expect(load->object, f, from, own);
	return sys_same((const void *)(uintptr_t)(load->base + from), own, f->originals);
}

/* Gives ids to those that have none. */
static int take_ids(struct object *object)
{
	uint32_t functions = range_of(object)->functions, without = functions;

	while (without && !object->entries[without - 1].id)
		without--;
	if (without == functions)
		return 1;
	uint32_t id = announce_take_ids(object, functions - without);
	for (uint32_t i = without; id && i < functions; i++)
		object->entries[i].id = id++;
	return id != 0;
}

/* Functions of libc are displaced: what we call in it goes past that, and threads make events to their very end. */
static void goes_past(void)
{
	uintptr_t set = thread_setspecific();

	thread_goes_on();
	if (set)
		thread_use_setspecific(entry_past(set));
}

static void unmap(struct entry_block *block)
{
	stub_unmap(&block->pages);
	stub_unmap(&block->near_pages);
}

/* Makes stubs of `count` functions from number `first` on, behind those that there are. */
static enum trace_reason make_block(struct load *load, uint32_t first, uint32_t count)
{
	struct entry_block *block = arena_alloc(&load->arena, sizeof(*block));

	if (!block)
		return TRACE_REASON_NO_ROOM;
	*block = (struct entry_block){ .next = load->entries, .first = first, .count = count };
	uint8_t *copies = stub_map_copies(&block->pages, load_code_place(load), load->start, load->end, block->count,
		entry_copy_room(load->object, block));
	if (!copies)
		return TRACE_REASON_NO_ROOM;
	entry_copy_make_near(load, block);
	entry_copy_fill(load, block, copies);
	if (stub_finish_copies(&block->pages) || (block->near_count && stub_finish_copies(&block->near_pages))) {
		unmap(block);
		return TRACE_REASON_PROTECTION;
	}
	in_order();
	load->entries = block;
	return TRACE_REASON_TRACED;
}

enum trace_reason entry_stubs(struct load *load)
{
	static const char libc[] = "libc.so.6";
	struct object *object = load->object;
	struct entry_block *before = load->entries;
	uint32_t functions = range_of(object)->functions;
	uint32_t first = before ? before->first + before->count : 0;

	if (first == functions)
		return TRACE_REASON_TRACED;
	if (!take_ids(object))
		return TRACE_REASON_IDS_USED_UP;
	enum trace_reason reason = make_block(load, first, functions - first);
	if (reason)
		return reason;
	if (object->soname && sys_length(object->soname) == sizeof(libc) - 1 &&
		sys_same(object->soname, libc, sizeof(libc)))
		goes_past();
	return TRACE_REASON_TRACED;
}

void entry_free(struct load *load)
{
	for (struct entry_block *block = load->entries; block; block = block->next)
		unmap(block);
	load->entries = NULL;
}
