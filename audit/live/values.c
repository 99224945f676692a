/* SPDX-License-Identifier: MIT */
#include "audit/live/values.h"

#include <errno.h> /* ENOMEM */
#include <link.h>  /* PT_LOAD */

#include "audit/index/find.h"
#include "audit/live/announce.h"
#include "audit/live/backtraces.h"
#include "audit/live/batch.h"
#include "audit/live/load_code.h"
#include "audit/live/probe_take.h"
#include "audit/live/requests.h"
#include "runtime/base/text.h"
#include "runtime/calls/values_calls.h"
#include "runtime/custom.h"
#include "runtime/process/process.h"
#include "runtime/values/plans.h"
#include "x86_64/contract.h"
#include "x86_64/cpu.h"
#include "x86_64/sys.h"

/* ---- plans ---- */

/* May the rules record calls of the object's functions: by its own section, or by that of an object that calls them? */
static bool is_traced(const struct object *object, const struct rules *rules)
{
	if (object->flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO))
		return false;
	return rules_kinds(rules) & 1u << TRACE_KIND_CALLS ||
	       (object->section && (object->section->kinds | object->section->fallback) &&
		       rules_may_select(object->section, object->path, object->soname));
}

/* What follows a field of a line. */
static const char *behind_field(const char *p, const char *end)
{
	while (p < end && *p++ != '\t')
		;
	return p;
}

/* A place of probes (xaudit-probes(7)), of `size` bytes: may it lie in the object? */
static bool may_have_place(const struct object *object, const char *place, size_t size)
{
	char library[256];
	const struct rules_pattern any = { .function = "*", .library = library };
	size_t at = 0, colon = 0;

	while (at < size && place[at] != '@')
		at++;
	/* Names of C++ have two. */
	while (colon < size && (place[colon] != ':' || (colon + 1 < size && place[colon + 1] == ':')))
		colon += place[colon] == ':' ? 2 : 1;
	const char *name = place + at + 1;
	size_t length = size - at - 1;
	if (at == size) {
		/* LIB:SYMBOL, or FILE:LINE and LIB:ADDRESS; usdt:PROVIDER:NAME. */
		bool is_line = colon + 1 < size && place[colon + 1] >= '0' && place[colon + 1] <= '9';
		if (colon >= size || is_line || (colon == 4 && sys_same(place, "usdt", 4)))
			return true;
		name = place;
		length = colon;
	}
	if (length >= sizeof(library))
		return true;
	sys_copy(library, name, length);
	library[length] = '\0';
	return rules_match(&any, NULL, object->path, object->soname);
}

/* Do the rules have a probe that may lie in the object? */
static bool may_have_probes(const struct object *object, const char *rules)
{
	static const char key[] = "probe at\t";

	if (object->flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO))
		return false;
	for (const char *line = rules, *next; *line; line = next) {
		for (next = line; *next && *next++ != '\n';)
			;
		const char *field = behind_field(behind_field(line, next), next);
		if ((size_t)(next - field) < sizeof(key) || !sys_same(field, key, sizeof(key) - 1))
			continue;
		field += sizeof(key) - 1;
		if (may_have_place(object, field, (size_t)(next - field) - (next[-1] == '\n')))
			return true;
	}
	return false;
}

static void say_damaged(const struct object *object)
{
	char line[400];
	struct text text = { line, sizeof(line), 0 };
	struct process_held held;

	text_string(&text, object->path);
	text_string(&text, ": no values of its calls are recorded, and it has no probes: what "
			   "`xaudit index --values` made is damaged");
	process_lock(&held);
	process_say(line);
	process_unlock(&held);
}

/* Of the rules, and of those before them: `xaudit ctl` may be reading these, without stopping us. Lock. */
static struct arena memory, memory_before;
static const char *rules_now; /* NULL: there are none. Lock; ld.so's, to read it */

bool values_are_wanted(void)
{
	/* Relaxed: who binds a moment too early binds as before. */
	return __atomic_load_n(&rules_now, __ATOMIC_RELAXED) != NULL;
}

static const char probe_key[] = "probe "; /* how KEYs of probes begin */

/* Does the line, of RULES, have that pattern? probe_key: is it about probes? */
static bool is_of(const char *line, const char *end, const char *pattern)
{
	const char *field = behind_field(line, end);
	const size_t length = sys_length(pattern);

	if (pattern == probe_key) {
		field = behind_field(field, end);
		return (size_t)(end - field) >= length && sys_same(field, pattern, length);
	}
	return (size_t)(end - field) > length && sys_same(field, pattern, length) && field[length] == '\t';
}

/*
 * Makes the rules anew: of these, without lines of a pattern (NULL: with all; probe_key: without those of probes),
 * and more behind them.
 */
static int make_rules(const char *rules, const char *without, const char *more)
{
	size_t size = sys_length(rules) + sys_length(more) + 1;
	struct arena fresh = { 0 };
	char *made = arena_alloc(&fresh, size), *to = made;

	if (!made)
		return -ENOMEM;
	for (const char *line = rules, *next; *line; line = next) {
		for (next = line; *next && *next++ != '\n';)
			;
		if (without && is_of(line, next, without))
			continue;
		sys_copy(to, line, (size_t)(next - line));
		to += next - line;
	}
	sys_copy(to, more, sys_length(more));
	rules_now = *made ? made : NULL;
	/* Who prepares an object reads rules without our lock, and for long: then they stay. */
	if (!batch_must_wait())
		arena_free(&memory_before);
	memory_before = memory;
	memory = fresh;
	return 0;
}

const char *const *values_rules_place(const struct rules *rules)
{
	if (rules->values)
		make_rules(rules->values, NULL, "");
	return &rules_now;
}

static bool have(const char *rules, const char *text)
{
	for (const char *p = rules; p && *p; p++) {
		size_t same = 0;
		while (text[same] && p[same] == text[same])
			same++;
		if (!text[same])
			return true;
	}
	return false;
}

/* Does a line of the rules say so? A plan may have been kept by others; only the rules say what is done here. */
static bool have_trust(const char *rules)
{
	return have(rules, "\ttrust\targuments\n");
}

bool values_ask_backtraces(void)
{
	/* A function of that name asks for them, too; that does no harm. */
	return custom_has_backtraces() || have(rules_now, "backtrace");
}

void values_prepare(struct load *load, const struct rules *rules)
{
	struct object *object = load->object;
	struct process_held held;
	size_t size;

	/* ld.so's lock keeps other threads from preparing this object. */
	if (!rules_now || object->values_asked || (!is_traced(object, rules) && !may_have_probes(object, rules_now)))
		return;
	object->values_asked = true;
	const void *bytes = index_plan(rules_now, object_file(object), &size);
	if (!bytes)
		return;
	uint32_t functions = 0;
	process_lock(&held);
	int r = values_add(object, bytes, size, have_trust(rules_now), &functions);
	if (!r && object->values->plan->probes)
		r = probe_take(object, object->values, false);
	process_unlock(&held);
	if (r) {
		say_damaged(object);
		sys_munmap((void *)(uintptr_t)bytes, size);
	}
}

void values_mark_xray(struct object *object, uint64_t offset, const char *name, uint32_t id)
{
	if (!object->values || id >= TRAMP_TABLE_IDS)
		return;
	/* Relaxed, all: a thread that sees one late records a call without values. */
	if (!values_bind(object->values, offset, name, id, true)) {
		__atomic_fetch_and(&tramp_table[id], (uint8_t)~TRAMP_HAS_VALUES, __ATOMIC_RELAXED);
		return;
	}
	__atomic_fetch_or(&tramp_table[id], TRAMP_HAS_VALUES, __ATOMIC_RELAXED); /* relaxed, as above */
	__atomic_fetch_or(&tramp_checks, TRAMP_CHECK_VALUES, __ATOMIC_RELAXED); /* relaxed, as above */
}

/* ---- loads ---- */

#define PAGE 4096ul

/* Once for each load: threads read it. */
static void set_place(struct load *load)
{
	struct values_place *place = &load->place;

	if (place->segments)
		return;
	place->base = load->base;
	place->copy = load->copy;
	place->copies = load->copies;
	for (unsigned i = 0; i < load->phnum && place->segments < VALUES_SEGMENTS; i++) {
		const Elf64_Phdr *p = &load->phdr[i];
		if (p->p_type == PT_LOAD && p->p_flags & PF_R)
			place->segment[place->segments++] = (struct values_segment){
				.low = load->base + p->p_vaddr,
				/* Pages are mapped whole. */
				.high = (load->base + p->p_vaddr + p->p_memsz + PAGE - 1) & -PAGE };
	}
}

void values_loads_changed(struct object *object)
{
	struct load *open = NULL, *closed = NULL;
	unsigned opened = 0, n = 0;

	if (!object->values)
		return;
	for (struct load *load = loads; load; load = load->next) {
		if (load->object != object || load->state == LOAD_FREE || load->state == LOAD_RETIRED)
			continue;
		n++;
		if (load->state != LOAD_OPEN) {
			closed = load;
			continue;
		}
		opened++;
		open = load;
	}
	/*
	 * One that is closed has run its last function, and may stay so for long: ld.so does not say that the last
	 * object of a namespace is gone. When the process exits, its threads go on in it.
	 */
	struct load *only = opened == 1 ? open : n == 1 ? closed : NULL;
	if (only && only == open)
		set_place(only);
	values_set_place(object->values, !only ? NULL : only->hidden ? &only->bare : &only->place);
}

/* Does memory of the load, or a copy of its variables, lie there? */
static bool has_part(const struct load *load, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < load->copies; i++)
		if (from < load->copy[i].to + load->copy[i].size && load->copy[i].to < to)
			return true;
	return from < load->end && load->start < to;
}

void values_hide(uint64_t address, uint64_t size)
{
	const uint64_t to = size < -address ? address + size : UINT64_MAX;
	struct process_held held;

	process_lock(&held);
	for (struct load *load = loads; load; load = load->next)
		if (!load->hidden && load->state != LOAD_FREE && load->state != LOAD_RETIRED &&
			has_part(load, address, to)) {
			load->bare.base = load->base;
			load->bare.copy = load->copy;
			load->bare.copies = load->copies;
			load->hidden = 1;
			values_loads_changed(load->object);
		}
	process_unlock(&held);
}

/* ---- errno ---- */

void values_find_errno(uintptr_t location)
{
	int *(*call)(void) = (int *(*)(void))location;

	if (!call)
		return;
	int64_t distance = (int64_t)((uint64_t)(uintptr_t)call() - cpu_thread());
	/* Relaxed: as values_calls.h says. */
	__atomic_store_n(&values_errno, distance, __ATOMIC_RELAXED);
}

/* ---- gates ---- */

/* bound: by a binding, so it does not see its object's own calls. */
static uint64_t sample_gate(uint8_t kind, bool bound)
{
	switch (bound ? kind & (uint8_t)~VALUES_SAMPLE_RELAYS : kind) {
#define GATE(KIND, name)                                                                                               \
	case VALUES_SAMPLE_##KIND:                                                                                     \
		return (uint64_t)(uintptr_t)tramp_sample_##name;
#define RELAYS(KIND, name)                                                                                             \
	case VALUES_SAMPLE_##KIND | VALUES_SAMPLE_RELAYS:                                                              \
		return (uint64_t)(uintptr_t)tramp_sample_##name;
		GATE(MALLOC, malloc)
		GATE(CALLOC, calloc)
		GATE(ALIGNED_ALLOC, aligned_alloc)
		GATE(POSIX_MEMALIGN, posix_memalign)
		GATE(FREE, free)
		GATE(REALLOC, realloc)
		GATE(REALLOCARRAY, reallocarray)
		RELAYS(MALLOC, malloc)
		RELAYS(CALLOC, calloc)
		RELAYS(ALIGNED_ALLOC, aligned_alloc_relays)
		RELAYS(POSIX_MEMALIGN, posix_memalign_relays)
		RELAYS(FREE, free)
		RELAYS(REALLOC, realloc_relays)
#undef GATE
#undef RELAYS
	default:
		return (uint64_t)(uintptr_t)tramp_sample_nothing;
	}
}

void values_fill_cell(struct stub_cell *cell, struct object *object, uint64_t offset, const char *name, uint32_t id,
	bool intercepted, bool bound)
{
	const bool has_values = object->values && values_bind(object->values, offset, name, id, intercepted);
	const struct values_function *f = has_values ? values_function(id) : NULL;
	uint64_t gate = (uint64_t)(uintptr_t)(intercepted ? tramp_gate_intercept : tramp_gate_point);

	if (f && intercepted && f->entry.facts.sample)
		gate = sample_gate(f->entry.facts.sample, bound);
	cell->word = TRACE_WORD(TRACE_ENTRY, id) | (has_values ? (uint32_t)TRAMP_WORD_VALUES : 0);
	__atomic_store_n(&cell->gate, gate, __ATOMIC_RELAXED); /* relaxed: one word */
}

/* ---- while the process runs ---- */

/* The words of the object's functions, as its plans say now. */
static void refresh_load(struct load *load)
{
	struct object *object = load->object;

	for (uint32_t i = 0; load->bindings && i < OBJECT_BUCKETS; i++)
		for (struct binding *b = load->bindings[i]; b; b = b->next) {
			const struct bound_function *f = b->function;
			if (f && f->id)
				values_fill_cell(b->cell, object, f->offset, f->name, f->id,
					tramp_gate_returns(b->cell->gate), true);
		}
	for (uint32_t i = 0; object->marks && i < object->sites.functions; i++) {
		const struct site_function *f = &object->sites.function[i];
		uint32_t id = object->marks[i] & FUNCTION_NAMED ? announce_id(object, i) : 0;
		struct stub_cell *cell = id ? load_code_cell(load, i) : NULL;
		if (id && f->kind == TRACE_KIND_XRAY)
			values_mark_xray(object, f->address, f->name, id);
		if (cell && cell->gate)
			values_fill_cell(cell, object, f->address, f->name, id, tramp_gate_returns(cell->gate), false);
	}
}

static void refresh(struct object *object)
{
	for (struct load *load = loads; load; load = load->next)
		if (load->object == object && load->state == LOAD_OPEN)
			refresh_load(load);
}

/* Is the function traced, and has it values? */
static bool is_in_use(const struct values_function *f)
{
	uint32_t events = f->entry.event | f->end.event;

	return events && !(f->plan->flags & PLAN_PROBE) && values_function(events & TRACE_ID_MASK) == f;
}

int values_add(struct object *object, const void *bytes, uint64_t size, bool trusts, uint32_t *functions)
{
	int r = values_take(&object->values, bytes, size, trusts);

	if (r)
		return r;
	values_loads_changed(object);
	refresh(object);
	for (uint32_t i = 0; i < object->values->plan->count; i++)
		*functions += is_in_use(&object->values->function[i]);
	return 0;
}

static int remember(const char *without, const char *rules)
{
	int r = make_rules(rules_now ? rules_now : "", without, rules);

	if (!r)
		backtraces_look();
	return r;
}

int values_remember(const char *rules)
{
	return remember(NULL, rules);
}

int values_remember_probes(const char *rules)
{
	return remember(probe_key, rules);
}

/* Drops what the pattern names of the object. Returns how many of them were in use. */
static uint32_t drop(struct object *object, const struct requests_rule *rule)
{
	uint32_t functions = 0;

	for (struct values_set *set = object->values; set; set = set->next)
		for (uint32_t i = 0; i < set->plan->count; i++) {
			struct values_function *f = &set->function[i];
			if (f->is_off || f->plan->flags & PLAN_PROBE ||
				!requests_matches(rule, object, TRACE_KIND_PLT, values_name(f)))
				continue;
			functions += is_in_use(f);
			values_drop(f);
		}
	refresh(object);
	return functions;
}

int values_drop_all(const char *patterns, const char *end, uint32_t *functions)
{
	char text[512];
	int r = 0;

	*functions = 0;
	for (const char *p = patterns, *next; p < end && *p && !r; p = next) {
		struct requests_rule rule;
		size_t length = sys_length(p);
		next = p + length + 1;
		if (length >= sizeof(text))
			return -EINVAL;
		sys_copy(text, p, length + 1);
		if (requests_parse(&rule, text))
			return -EINVAL;
		for (struct object *object = objects; object; object = object->next)
			*functions += object->values ? drop(object, &rule) : 0;
		r = rules_now ? make_rules(rules_now, p, "") : 0;
	}
	return r;
}
