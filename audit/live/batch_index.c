/* SPDX-License-Identifier: MIT */
#include "audit/live/batch_index.h"

#include <errno.h> /* ENOMEM */
#include <stdbool.h>

#include "audit/index/walk.h"
#include "audit/live/entry.h"
#include "audit/live/entry_calls.h"
#include "audit/live/unwinder.h"
#include "runtime/base/arena.h"

#define IN_SET (1u << 31) /* the function is in the object's set already */
#define ADD    (1u << 30) /* it is to be */
#define RULE   (ADD - 1)

static const unsigned entry = 1u << TRACE_KIND_ENTRY;

/* Does the rule name the kind, and not just all kinds? */
static bool names_kind(const struct requests_rule *rule)
{
	return rule->kinds != REQUESTS_ALL_KINDS && rule->kinds & entry;
}

/* Those of `kinds` that the rules name for the object. */
static unsigned kinds_named(const struct batch *batch, const struct object *object, unsigned kinds)
{
	unsigned named = 0;

	for (size_t i = 0; i < batch->rules; i++)
		if (batch->rule[i].kinds != REQUESTS_ALL_KINDS && requests_concerns(&batch->rule[i], object))
			named |= batch->rule[i].kinds;
	return named & kinds;
}

/* One rule: notes it at its functions, of which an earlier one keeps those that it named. */
static void walk(struct batch_index *named, struct batch *batch, const struct object *object, size_t n)
{
	const struct requests_rule *rule = &batch->rule[n];
	const struct rules_pattern pattern = { .function = rule->function };
	int adds = names_kind(rule);
	struct index_walk at;
	const char *name;
	size_t number;

	index_match(&object->index, rule->function, &at);
	while (index_next(&object->index, &at, &number, &name) > 0) {
		uint32_t *of = &named->of[number];
		if (!(adds || *of & IN_SET) || !rules_match(&pattern, name, NULL, NULL))
			continue;
		batch_note_rule(batch, n);
		if (!(*of & RULE))
			*of |= (uint32_t)n + 1;
		if (adds && batch->on && !(*of & IN_SET))
			*of |= ADD;
	}
}

static int add(const struct batch_index *named, struct batch *batch, struct object *object, struct arena *arena)
{
	uint32_t counts[TRACE_REASON_COUNT] = { 0 }, *all = object->counts[TRACE_KIND_ENTRY];
	uint32_t *unselected = &all[TRACE_REASON_NOT_SELECTED];
	struct entry_wish wish;

	if (entry_wish_begin(&wish, object, TRACE_KIND_ENTRY, arena))
		return -ENOMEM;
	for (size_t i = 0; i < object->index.functions; i++)
		if (named->of[i] & ADD)
			wish.selected[i / 64] |= 1ull << i % 64;
	for (const struct rules_pattern *p = object_rules->below; p; p = p->next)
		entry_wish_mark(object, p, 1, wish.below, NULL);
	if (entry_add(object, &wish, counts) < 0)
		return -ENOMEM;
	/* Those that can be used are counted in the set from here on; of the others this command alone is told. */
	uint32_t added = counts[TRACE_REASON_DISABLED];
	*unselected -= added < *unselected ? added : *unselected;
	all[TRACE_REASON_DISABLED] += added;
	for (unsigned reason = 0; reason < TRACE_REASON_COUNT; reason++) {
		if (reason == TRACE_REASON_DISABLED)
			continue;
		batch->result->refused[reason] += counts[reason];
		batch->result->functions += counts[reason];
	}
	return 0;
}

/* All functions of a kind that have calls, the first time that it is asked for. Returns 0 or -ENOMEM. */
static int add_calls(struct object *object, unsigned kind, struct arena *arena)
{
	uint32_t *counts = object->counts[kind], all = 0;
	struct entry_wish wish;

	for (unsigned reason = 0; reason < TRACE_REASON_COUNT; reason++)
		all |= counts[reason];
	if (all)
		return 0;
	if (entry_wish_begin(&wish, object, kind, arena))
		return -ENOMEM;
	for (const struct rules_pattern *p = object_rules->below; p; p = p->next)
		entry_wish_mark(object, p, 1, wish.below, NULL);
	return entry_add(object, &wish, counts) < 0 ? -ENOMEM : 0;
}

/* Why nothing of the object can be displaced now; TRACED: it can. */
static enum trace_reason why_not(const struct batch *batch, const struct object *object)
{
	if (object->index.head)
		return object->index.head->flags & INDEX_RELOCATED ? TRACE_REASON_TEXTREL : TRACE_REASON_TRACED;
	return batch->outside ? TRACE_REASON_NO_INDEX : TRACE_REASON_NOT_DISPLACED;
}

int batch_index_find(struct batch_index *named, struct batch *batch, struct object *object, struct arena *arena)
{
	const struct site_range *range = &object->sites.of[TRACE_KIND_ENTRY];

	entry_settle(object);
	unsigned adds = batch->on ? kinds_named(batch, object, kinds_with(KIND_BY_INDEX)) : 0;
	enum trace_reason reason = adds ? why_not(batch, object) : TRACE_REASON_TRACED;
	int added = 0, r = 0;

	named->of = NULL;
	if (object->flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO))
		return 0;
	/* Once: which of the libraries it would be in is not known. */
	if (reason) {
		batch->result->refused[reason] += !batch->result->refused[reason];
		adds = 0;
	}
	if (!object->index.head || (!adds && !range->functions))
		return 0;
	/* Perhaps the first ones of the process. */
	if (adds && !unwinder_begun)
		unwinder_begin();
	for (unsigned kind = 0; kind < TRACE_KIND_COUNT && r == 0; kind++)
		if (adds >> kind & 1 && entry_calls_has(kind))
			r = add_calls(object, kind, arena);
	if (r)
		return r;
	named->of = arena_alloc(arena, object->index.functions * sizeof(*named->of));
	if (!named->of)
		return -ENOMEM;
	for (uint32_t i = range->function; i < range->function + range->functions; i++)
		if (entry_is(object, i))
			named->of[entry_number(object, i)] = IN_SET;
	for (size_t i = 0; i < batch->rules; i++)
		if (batch->rule[i].kinds & entry && requests_concerns(&batch->rule[i], object))
			walk(named, batch, object, i);
	for (size_t i = 0; adds & entry && !added && i < object->index.functions; i++)
		added = (named->of[i] & ADD) != 0;
	return added ? add(named, batch, object, arena) : 0;
}

int batch_index_rule(const struct batch_index *named, const struct object *object, uint32_t function)
{
	return named->of ? (int)(named->of[entry_number(object, function)] & RULE) - 1 : -1;
}
