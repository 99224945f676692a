/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/prepare/entry.h"

#include <errno.h> /* EPERM */
#include <stdbool.h>
#include <string.h> /* memcpy */

#include "audit/index/find.h"
#include "audit/index/folder.h"
#include "audit/live/announce.h"
#include "audit/live/batch.h"
#include "audit/live/entry.h"
#include "audit/live/entry_calls.h"
#include "audit/live/entry_stub.h"
#include "audit/live/load_code.h"
#include "audit/live/requests.h"
#include "x86_64/sys.h"

/* ---- which functions there are, and which are wanted: once per object ---- */

static enum trace_reason reason_of(int error)
{
	switch (error) {
	case 0:
		return TRACE_REASON_TRACED;
	case -EPERM:
		return TRACE_REASON_INDEX_REFUSED;
	case -EPROTO:
		return TRACE_REASON_INDEX_VERSION;
	case -EBADMSG:
	case -ESTALE:
		return TRACE_REASON_INDEX_DAMAGED;
	default:
		return TRACE_REASON_NO_INDEX;
	}
}

enum trace_reason entry_find(struct index *index, const struct object *object, const struct image *image)
{
	struct index_identity identity;

	*index = (struct index){ 0 };
	object_identity(object, &identity);
	if (!identity.build_id_len && !load_code_is_as_file(object, image->start))
		return TRACE_REASON_FILE_CHANGED;
	int r = index_find(index, &identity, object_file(object));
	/* Text relocations may lie beside the code, as those of section __mcount_loc do (-mrecord-mcount). */
	if (!r && index->head->flags & INDEX_RELOCATED) {
		index_close(index);
		return TRACE_REASON_TEXTREL;
	}
	return reason_of(r);
}

static void set_all(uint64_t *bits, size_t functions)
{
	for (size_t n = 0; n < functions; n++)
		bits[n / 64] |= 1ull << n % 64;
}

/* What the rules, and requests since, want of the index's functions. */
static void ask(const struct object *object, struct entry_wish *wish)
{
	const struct rules *rules = object_rules;
	const struct rules_section *section = object->section;
	const unsigned kind = 1u << wish->kind;
	const struct requests_rule *asked;
	const void *at = NULL;
	int selects = section && (section->kinds | section->fallback) & kind, on;

	if (selects && !section->functions)
		set_all(wish->selected, object->index.functions);
	for (const struct rules_pattern *p = selects ? section->functions : NULL; p; p = p->next)
		entry_wish_mark(object, p, 1, wish->selected, NULL);
	for (const struct rules_pattern *p = selects ? section->exclude : NULL; p; p = p->next)
		entry_wish_mark(object, p, 0, wish->selected, NULL);
	if (!rules->disabled && rules->prepare != RULES_PREPARE_NONE)
		memcpy(wish->on, wish->selected, wish->words * sizeof(*wish->on));
	while ((asked = requests_each(&at, &on))) {
		const struct rules_pattern pattern = { .function = asked->function, .library = asked->library };
		/* A request without kinds concerns what is displaced, and displaces nothing. */
		const uint64_t *only = on && asked->kinds == REQUESTS_ALL_KINDS ? wish->selected : NULL;
		if (asked->kinds & kind)
			entry_wish_mark(object, &pattern, on, wish->on, only);
	}
	if (rules->prepare == RULES_PREPARE_ALL && selects && section->kinds & kind)
		set_all(wish->ready, object->index.functions);
	else if (rules->prepare != RULES_PREPARE_NONE)
		memcpy(wish->ready, wish->selected, wish->words * sizeof(*wish->ready));
	for (const struct rules_pattern *p = rules->below; p; p = p->next)
		entry_wish_mark(object, p, 1, wish->below, NULL);
}

/* As it is counted where it can be used and is on. */
static enum trace_reason traced(const struct object *object, uint32_t function)
{
	return object->marks[function] & FUNCTION_ENTRY ? TRACE_REASON_ENTRY_ONLY : TRACE_REASON_TRACED;
}

/* Adds what is wanted, and counts it. Returns 0 or -ENOMEM. */
static int add_wanted(struct object *object, unsigned kind)
{
	uint32_t *counts = object->counts[kind], all = 0;
	struct arena memory = { 0 };
	struct entry_wish wish;
	int r = entry_wish_begin(&wish, object, kind, &memory);

	if (!r) {
		ask(object, &wish);
		r = entry_add(object, &wish, counts) < 0 ? -ENOMEM : 0;
	}
	arena_free(&memory);
	for (unsigned i = 0; i < TRACE_REASON_COUNT; i++)
		all += counts[i];
	if (counts[TRACE_REASON_TRACED] + counts[TRACE_REASON_DISABLED])
		object_selected = 1;
	/* Of others, all that there are have been looked at. */
	if (!r && !all && entry_calls_has(kind))
		counts[TRACE_REASON_NO_SITES]++;
	else if (!r && !entry_calls_has(kind) && all < object->index.functions)
		counts[TRACE_REASON_NOT_SELECTED] += (uint32_t)object->index.functions - all;
	return r;
}

void entry_plan(struct object *object, const struct index *index, unsigned kinds)
{
	const struct site_range *range = &object->sites.of[TRACE_KIND_ENTRY];
	/* A function that has a call is seen by way of it, rather than as any other. */
	static const uint8_t order[] = { TRACE_KIND_FENTRY, TRACE_KIND_MCOUNT, TRACE_KIND_ENTRY };

	object->index = *index;
	for (unsigned i = 0; i < sizeof(order); i++) {
		if (!(kinds >> order[i] & 1))
			continue;
		if (add_wanted(object, order[i]))
			object->counts[order[i]][TRACE_REASON_NO_ROOM]++;
		/* What is damaged can't be looked at, so it isn't known what the rules say of it. */
		if (index_damaged(index))
			object->counts[order[i]][TRACE_REASON_INDEX_DAMAGED]++;
	}
	for (uint32_t n = range->function; n < range->function + range->functions; n++)
		if (object->counted[n] == TRACE_REASON_TRACED)
			batch_recount(object, n, traced(object, n));
}

/* ---- once per load ---- */

static bool is_asked(const struct object *object, uint32_t function)
{
	return object->marks[function] & (FUNCTION_ON | FUNCTION_READY);
}

/* As which the function is counted in this load. */
static enum trace_reason count_as(const struct load *load, uint32_t function)
{
	const struct object *object = load->object;
	enum trace_reason why = entry_refused(load, function);

	if (why)
		return why;
	if (object->marks[function] & FUNCTION_ON)
		return traced(object, function);
	return object->counted[function] == TRACE_REASON_NOT_SELECTED ? TRACE_REASON_NOT_SELECTED :
									TRACE_REASON_DISABLED;
}

void entry_prepare(struct load *load)
{
	struct object *object = load->object;
	const struct site_range *range = &object->sites.of[TRACE_KIND_ENTRY];
	uint32_t asked = 0, changed = 0, end = range->function + range->functions;

	for (uint32_t n = range->function; n < end; n++)
		asked += is_asked(object, n) != 0;
	if (!asked)
		return;
	enum trace_reason reason = entry_stubs(load);
	for (uint32_t n = range->function; n < end; n++) {
		enum trace_reason why = reason ? reason : count_as(load, n);
		if (!is_asked(object, n) || why == object->counted[n])
			continue;
		batch_recount(object, n, why);
		changed++;
	}
	/* Of an object that was loaded before they were told already. */
	if (changed && object->counts_told)
		announce_counts(object);
}

bool entry_is_wanted(const struct load *load, uint32_t function)
{
	return is_asked(load->object, function) && entry_refused(load, function) == TRACE_REASON_TRACED;
}
