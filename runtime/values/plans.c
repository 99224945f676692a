/* SPDX-License-Identifier: MIT */
#include "runtime/values/plans.h"

#include <errno.h>    /* EBADMSG */
#include <sys/mman.h> /* PROT_READ */

#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "runtime/record/recorder.h"
#include "runtime/record/throttle.h"
#include "runtime/values/sample.h"
#include "x86_64/confined.h"
#include "x86_64/probe.h"
#include "x86_64/sys.h"

struct tramp_values **tramp_values;

/* Process lock, all. */
static struct values_function *told; /* whose layouts the trace knows, the newest first */
static uint32_t layouts, with_every;
static struct arena memory; /* for as long as the process lives */

/* ---- a plan is checked ---- */

static bool check_head(const struct plan_head *plan, size_t size)
{
	return size >= sizeof(*plan) && size <= PLAN_MAX && sys_same(plan->magic, PLAN_MAGIC, sizeof(plan->magic)) &&
	       plan->version == PLAN_VERSION && plan->size == size &&
	       plan->count <= (size - sizeof(*plan)) / sizeof(plan->function[0]);
}

/* Are there so many items at the position? Then their number is right. */
static bool has_items(const struct plan_head *plan, uint64_t at, uint64_t count, size_t size)
{
	return count ? values_lies_in(plan, at, count * size, 8) : true;
}

/* Where a window's bytes end, those that are written and those that are displaced. */
static uint64_t end_of(const struct plan_window *w)
{
	unsigned written = probe_written(w);

	return w->address + (w->length > written ? w->length : written);
}

/* before: the window before it; NULL: none, or it is only the `other` one of another. */
static bool check_window(const struct plan_head *plan, const struct plan_window *w, const struct plan_window *before)
{
	const struct plan_window *window = (const void *)((const uint8_t *)plan + plan->window);
	const uint32_t number = (uint32_t)(w - window);

	if (!probe_check(w, plan, plan->size) || w->address > INT64_MAX ||
		w->first > plan->probes || w->probes > plan->probes - w->first)
		return false;
	/* Numbers ascend, so no window is its own other one. */
	if (w->other != PROBE_NONE &&
		(w->other <= number || w->other >= plan->windows || window[w->other].first != w->first ||
			window[w->other].probes != w->probes))
		return false;
	return !before || end_of(before) <= w->address;
}

static bool check_probe(const struct plan_head *plan, const struct plan_probe *p)
{
	const struct plan_window *window = (const void *)((const uint8_t *)plan + plan->window);
	const struct plan_probe *probe = (const void *)((const uint8_t *)plan + plan->probe);
	const uint32_t number = (uint32_t)(p - probe);

	if (!values_is_text((const char *)plan, p->name, plan->size) ||
		!values_is_text((const char *)plan, p->at, plan->size) ||
		(p->nearest_at && !values_is_text((const char *)plan, p->nearest_at, plan->size)))
		return false;
	if (p->function != PROBE_NONE &&
		(p->function >= plan->count || !(plan->function[p->function].flags & PLAN_PROBE)))
		return false;
	if (p->action != PROBE_NONE && p->action >= plan->actions)
		return false;
	if (p->window == PROBE_NONE)
		return p->refusal != PROBE_USABLE && p->refusal < PROBE_REFUSAL_COUNT;
	if (p->window >= plan->windows || p->refusal != PROBE_USABLE)
		return false;
	const struct plan_window *w = &window[p->window];
	return number >= w->first && number - w->first < w->probes && p->address >= w->address &&
	       p->address < w->address + w->length &&
	       (number == w->first || p->address >= probe[number - 1].address);
}

/*
 * Windows that are only the `other` one of another lie behind the rest, whose probes follow each other: these are the
 * first windows, in order of address.
 */
static bool check_probes(const struct plan_head *plan)
{
	const struct plan_window *window = (const void *)((const uint8_t *)plan + plan->window);
	const struct plan_probe *probe = (const void *)((const uint8_t *)plan + plan->probe);
	uint32_t probes = 0, own = 0;

	if (plan->windows > PROBE_WINDOWS_MAX || !has_items(plan, plan->window, plan->windows, sizeof(*window)) ||
		!has_items(plan, plan->probe, plan->probes, sizeof(*probe)) ||
		!has_items(plan, plan->action, plan->actions, sizeof(struct plan_action)))
		return false;
	for (; own < plan->windows && window[own].first == probes && probes < plan->probes &&
		probe[probes].window == own;
		own++) {
		if (!check_window(plan, &window[own], own ? &window[own - 1] : NULL))
			return false;
		probes += window[own].probes;
	}
	for (uint32_t i = own; i < plan->windows; i++)
		if (!check_window(plan, &window[i], NULL))
			return false;
	for (uint32_t i = 0; i < plan->probes; i++)
		if (!check_probe(plan, &probe[i]) || (i < probes) != (probe[i].window < own))
			return false;
	return true;
}

static uint32_t hash_name(const char *name)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	while (*name)
		hash = (hash ^ (uint8_t)*name++) * 16777619u;
	return hash;
}

/* Of functions that have no values most are looked for by name: each time in all, that takes seconds in large files. */
static bool index_names(struct values_set *set, struct arena *held)
{
	const struct plan_head *plan = set->plan;

	set->names = 2;
	while (set->names < 2 * plan->count)
		set->names *= 2;
	set->by_name = arena_alloc(held, set->names * sizeof(*set->by_name));
	for (uint32_t i = 0; set->by_name && i < plan->count; i++) {
		if (plan->function[i].flags & PLAN_PROBE)
			continue;
		uint32_t at = hash_name((const char *)plan + plan->function[i].name);
		while (set->by_name[at & (set->names - 1)])
			at++;
		set->by_name[at & (set->names - 1)] = i + 1;
	}
	return set->by_name;
}

static struct values_function *find(struct values_set *set, uint64_t offset, const char *name)
{
	const struct plan_head *plan = set->plan;
	uint32_t low = 0, high = plan->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (plan->function[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < plan->count && plan->function[low].offset == offset; low++)
		if (!(plan->function[low].flags & PLAN_PROBE))
			return &set->function[low];
	/* Of an IFUNC the plan has the resolver's address. */
	if (!name || !*name)
		return NULL;
	for (uint32_t at = hash_name(name), i; (i = set->by_name[at & (set->names - 1)]); at++)
		if (sys_same_text((const char *)plan + plan->function[i - 1].name, name))
			return &set->function[i - 1];
	return NULL;
}

/* Its first one, if the row names one of the plan. What older plans of the object have counted goes on. */
static void set_actions(struct values_function *f, struct values_set *older)
{
	const uint32_t number = f->plan->action;
	const bool is_function = !(f->plan->flags & PLAN_PROBE);

	f->then = f->set->action && number < f->set->plan->actions ? &f->set->action[number] : NULL;
	for (const struct values_action *a = f->then; a; a = a->next) {
		bool at_end = actions_is_at_end(a);
		f->then_ends |= at_end;
		f->then_needs |= at_end && (a->entry.code || a->end.facts.takes || a->longer);
	}
	for (; f->then && is_function && older; older = older->next) {
		const struct values_function *before = find(older, f->plan->offset, NULL);
		if (before && before->then) {
			actions_go_on(&f->set->action[number], before->then);
			return;
		}
	}
}

int values_take_held(
	struct values_set **sets, const void *bytes, size_t size, bool trusts, struct arena *held)
{
	const struct plan_head *plan = bytes;

	if (!check_head(plan, size) || !check_probes(plan))
		return -EBADMSG;
	for (uint32_t i = 0; i < plan->count; i++)
		if (!values_is_text(bytes, plan->function[i].name, size) ||
			(i && plan->function[i].offset < plan->function[i - 1].offset))
			return -EBADMSG;
	struct values_set *set = arena_alloc(held, sizeof(*set) + plan->count * sizeof(set->function[0]));
	if (!set)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->count; i++) {
		struct values_function *f = &set->function[i];
		f->set = set;
		f->plan = &plan->function[i];
		f->is_off = !values_take_part(&f->entry, plan, &f->plan->entry) ||
			    !values_take_part(&f->end, plan, &f->plan->end) ||
			    (!trusts && (f->entry.facts.trusts || f->end.facts.trusts));
	}
	set->plan = plan;
	if (!index_names(set, held))
		return -ENOMEM;
	int error;
	set->action = actions_take(plan, size, held, &error);
	if (error)
		return error;
	for (uint32_t i = 0; i < plan->count; i++)
		set_actions(&set->function[i], *sets);
	set->place = *sets ? (*sets)->place : NULL;
	set->next = *sets;
	*sets = set;
	return 0;
}

int values_take(struct values_set **sets, const void *bytes, size_t size, bool trusts)
{
	return values_take_held(sets, bytes, size, trusts, &memory);
}

void values_give_back(struct values_set **sets, struct arena *held)
{
	const struct values_set *set = *sets;

	actions_give_back(set->action, set->plan);
	*sets = set->next;
	arena_free(held);
}

/* ---- functions get their ids ---- */

static void tell(const struct values_part *part)
{
	struct trace_layout record = *part->layout;

	record.head = (struct trace_record){ .type = TRACE_REC_LAYOUT };
	record.layout = part->number;
	record.event = part->event;
	process_append(&record.head, sizeof(record), part->layout->value, part->bytes - sizeof(record));
}

static void number_part(struct values_part *part, uint32_t event)
{
	part->event = event;
	if (!part->layout || layouts == TRACE_LAYOUT_MAX)
		return;
	part->number = ++layouts;
	throttle_layout(part->number, event);
	tell(part);
}

/* Where trampolines find a register's value; 0: nowhere. */
static uint8_t quick_place(uint8_t which)
{
	static const uint8_t place[VALUES_REGISTERS] = { [VALUES_RDI] = TRAMP_QUICK_RDI, [VALUES_RSI] = TRAMP_QUICK_RSI,
		[VALUES_R8] = TRAMP_QUICK_R8, [VALUES_R9] = TRAMP_QUICK_R9, [VALUES_RDX] = TRAMP_QUICK_RDX,
		[VALUES_RCX] = TRAMP_QUICK_RCX, [VALUES_RAX] = TRAMP_QUICK_RAX };

	return place[which];
}

/*
 * May trampolines record this end of calls themselves? If the code only puts registers, of 4 or 8 bytes, and there are
 * not too many.
 */
static bool make_quick(struct tramp_quick *quick, const struct values_part *part)
{
	unsigned pieces = 0;

	for (const uint8_t *code = part->code; *code != VALUES_END; code += 4) {
		for (; *code == VALUES_PUT_NONE; code++)
			;
		if (*code == VALUES_END)
			break;
		uint8_t at = code[0] == VALUES_REGISTER ? quick_place(code[1]) : 0;
		if (!at || code[2] != VALUES_PUT || code[3] < 4 || pieces + code[3] / 4 > TRAMP_QUICK_PIECES)
			return false;
		for (unsigned i = 0; i < code[3]; i += 4)
			quick->piece[pieces++] = (uint8_t)(at + i);
	}
	quick->words = (uint8_t)((pieces + 1) / 2);
	return pieces;
}

/* The layout has its number, and its code is quick. first: where the first register is that a late payload may have. */
static void set_event(struct tramp_quick *quick, uint32_t layout, uint8_t first)
{
	const uint8_t lower = quick->piece[0], upper = quick->piece[1];

	quick->event = TRACE_WORD(TRACE_VALUED, TRACE_VALUED_ID(layout, quick->words));
	quick->first = upper == first + 4 ? ~0ull : UINT32_MAX;
	quick->next = upper == TRAMP_QUICK_RSI ? ~0ull << 32 : 0;
	if (quick->words == 1 && lower == first && (upper == first + 4 || upper == TRAMP_QUICK_ZERO ||
							   (first == TRAMP_QUICK_RDI && upper == TRAMP_QUICK_RSI)))
		quick->late = TRACE_EVENT(TRACE_VALUED, TRACE_VALUED_ID(layout, TRACE_VALUED_LATE(1)), 0);
}

_Static_assert(TRAMP_PLACE_COUNT == offsetof(struct values_place, segments), "as trampolines have it");
_Static_assert(TRAMP_PLACE_FIRST == offsetof(struct values_place, segment[0].low), "as above");
_Static_assert(TRAMP_PLACE_FIRST + 8 == offsetof(struct values_place, segment[0].high), "as above");
_Static_assert(sizeof(struct values_segment) == 16, "as above");

/* Does the code put a text at an address in a register, and nothing more? Then that is where trampolines find it. */
static uint8_t text_place(const uint8_t *code)
{
	/* Other code may be shorter, and the plan end with it. */
	if (code[0] != VALUES_REGISTER || code[2] != VALUES_PUT_TEXT)
		return 0;
	const uint32_t most = code[3] | (uint32_t)code[4] << 8;
	return most >= TRAMP_TEXT_MOST && code[5] == VALUES_END ? quick_place(code[1]) : 0;
}

/* As set_event(), of a probe: late are one register or two, each a word of the payload. */
static void set_probe(struct tramp_quick *quick, uint32_t layout)
{
	bool whole = quick->words <= 2;

	set_event(quick, layout, 0);
	for (uint32_t i = 0; i < quick->words; i++)
		whole &= quick->piece[2 * i] && quick->piece[2 * i + 1] == quick->piece[2 * i] + 4;
	if (whole)
		quick->late = TRACE_EVENT(TRACE_VALUED, TRACE_VALUED_ID(layout, TRACE_VALUED_LATE(quick->words)), 0);
}

/* f has its numbers. */
static void set_quick(struct values_function *f, bool has_end)
{
	struct tramp_quick *entry = &f->quick.entry, *end = &f->quick.end;
	const bool is_probe = f->plan->flags & PLAN_PROBE;

	if (f->every || values_needs_entry(f) || f->entry.facts.sample || f->then)
		return;
	if (is_probe) {
		if (f->entry.number && make_quick(entry, &f->entry))
			set_probe(entry, f->entry.number);
	} else if (!f->entry.code)
		entry->event = TRACE_WORD(TRACE_ENTRY, f->end.event & TRACE_ID_MASK);
	else if (f->entry.number && has_end && make_quick(entry, &f->entry))
		set_event(entry, f->entry.number, TRAMP_QUICK_RDI);
	else if (f->entry.number && has_end && text_place(f->entry.code)) {
		entry->piece[0] = text_place(f->entry.code);
		entry->event = TRACE_WORD(TRACE_VALUED, TRACE_VALUED_ID(f->entry.number, TRACE_VALUED_LATE(1)));
		entry->text = (uint64_t)entry->event << 32;
		entry->words = 1;
		entry->place = (const void *const *)&f->set->place;
	}
	if (f->end.number && make_quick(end, &f->end))
		set_event(end, f->end.number, TRAMP_QUICK_RAX);
	entry->plain = !f->end.code;
	/* That way leaves the mirror as it is. */
	if (entry->plain && !is_probe)
		entry->late = 0;
	entry->reserved = TRACE_WORD(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_RESERVED, entry->words));
	end->reserved = TRACE_WORD(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_RESERVED, end->words));
}

static struct values_part part_again(const struct values_part *part)
{
	return (struct values_part){
		.code = part->code, .layout = part->layout, .facts = part->facts, .bytes = part->bytes };
}

/*
 * The function for this id: each of its names that callers use has one, as open and open64 of libc, and a layout tells
 * one. NULL: no memory.
 */
static struct values_function *for_id(struct values_function *f, uint32_t id)
{
	for (;; f = f->also) {
		uint32_t events = f->entry.event | f->end.event;
		if (!events || (events & TRACE_ID_MASK) == id)
			return f;
		if (!f->also)
			break;
	}
	struct values_function *made = arena_alloc(&memory, sizeof(*made));
	if (made)
		*made = (struct values_function){ .set = f->set, .plan = f->plan, .entry = part_again(&f->entry),
			.end = part_again(&f->end), .then = f->then, .then_ends = f->then_ends,
			.then_needs = f->then_needs };
	f->also = made;
	return made;
}

/* Numbers its layouts, and tells them, if that was not done yet. */
static void begin(struct values_function *f, uint32_t id, bool has_end)
{
	if (f->entry.event | f->end.event)
		return;
	if (f->entry.facts.sample)
		sample_begin(f->entry.facts.interval);
	f->longer = f->plan->longer ? clock_ticks(f->plan->longer) : 0;
	f->every = f->plan->every;
	f->every_number = f->every ? with_every++ : 0;
	number_part(&f->entry, TRACE_WORD(f->plan->flags & PLAN_PROBE ? TRACE_PROBE
					  : has_end		    ? TRACE_ENTRY
								    : TRACE_POINT,
				       id));
	if (has_end)
		number_part(&f->end, TRACE_WORD(TRACE_EXIT, id));
	set_quick(f, has_end);
	f->told = told;
	told = f;
}

/* The table is mapped with the first function that has values: others' address space may be limited. */
static bool make_table(void)
{
	struct tramp_values **made;

	if (tramp_values)
		return true;
	if (confined())
		return false;
	made = sys_mmap(NULL, TRAMP_TABLE_IDS * sizeof(*made), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_error(made))
		return false;
	/* Release: pairs with the acquire in values_function(). */
	__atomic_store_n(&tramp_values, made, __ATOMIC_RELEASE);
	return true;
}

/* From the id to the function; NULL: it has no values any more. */
static void lead(uint32_t id, struct values_function *f)
{
	const bool starts = f && actions_have_start(f->then);

	if (starts)
		recorder_watch();
	filter_starts(id, starts);
	/* Release: pairs with the acquire in values_function(). */
	if (f || values_function(id))
		__atomic_store_n(&tramp_values[id], f ? &f->quick : NULL, __ATOMIC_RELEASE);
}

/* Is anything recorded, done or left out where it is called? What takes its end can't be where none is seen. */
static bool has_part(const struct values_function *f, bool has_end)
{
	return f->entry.code || f->then || f->plan->every || (has_end && (f->end.code || f->plan->longer));
}

bool values_bind(struct values_set *sets, uint64_t offset, const char *name, uint32_t id, bool has_end)
{
	struct values_function *f = NULL;

	for (; sets && !f; sets = sets->next) {
		f = find(sets, offset, name);
		f = f && !f->is_off && has_part(f, has_end) ? f : NULL;
	}
	if (!id || id >= TRAMP_TABLE_IDS)
		return false;
	f = f && make_table() ? for_id(f, id) : NULL;
	if (f)
		begin(f, id, has_end);
	lead(id, f);
	return f != NULL;
}

bool values_bind_probe(struct values_set *set, uint32_t number, uint32_t id)
{
	struct values_function *f = &set->function[number];

	if (f->is_off || (!f->entry.code && !f->then && !f->plan->every) || !id || id >= TRAMP_TABLE_IDS ||
		!make_table())
		return false;
	begin(f, id, false);
	lead(id, f);
	return true;
}

void values_drop(struct values_function *f)
{
	f->is_off = true;
}

void values_describe(void)
{
	for (const struct values_function *f = told; f; f = f->told) {
		if (f->entry.number)
			tell(&f->entry);
		if (f->end.number)
			tell(&f->end);
	}
}

void values_set_place(struct values_set *sets, const struct values_place *place)
{
	/* Release: pairs with the acquire in values_place(). */
	for (; sets; sets = sets->next)
		__atomic_store_n(&sets->place, place, __ATOMIC_RELEASE);
}
