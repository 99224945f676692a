/* SPDX-License-Identifier: MIT */
#include "tool/plan/probes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/index/facts.h"
#include "tool/index/write.h"
#include "tool/plan/actions.h"
#include "tool/plan/functions.h"
#include "tool/probe/asked.h"
#include "tool/probe/symbols.h"
#include "tool/probe/windows.h"
#include "tool/values/condition.h"
#include "tool/values/operand.h"

/* One that was found, before it has a window. */
struct found {
	struct plan_probe probe;
	uint32_t number; /* in the order of the rules; then which of the addresses it is; PROBE_NONE: of none */
};

struct probing {
	struct making *m;
	struct found *found;
	size_t count;
	uint64_t *address; /* of all, in ascending order, and of one address in that of the rules */
	size_t addresses;
	struct symbols symbols;
	struct place place; /* the one at hand */
	uint32_t probe, action, actions; /* the probe at hand, and the actions of its first place */
};

/* What is known of the place at hand, at one of its addresses. */
struct scene {
	struct contexts_list list; /* of the function that begins, or returns, there */
	struct values_operand operand[OPERANDS_MOST];
	struct values_known known;
};

/* ---- values ---- */

/* The function that begins there, or that holds it; image->functions: none. */
static size_t function_at(const struct making *m, uint64_t address, bool begins)
{
	size_t i = image_before(&m->image, address);

	if (i < m->image.functions && (begins ? m->image.function[i].address != address
					      : address >= m->image.function[i].end))
		i = m->image.functions;
	return i;
}

static void see(struct probing *p, const struct place_found *found, struct scene *scene)
{
	struct making *m = p->m;
	const enum values_at at = asked_at(&p->place);
	struct contexts_wish wish = { .secret = memory_zeroed(m->to - m->from + 1, sizeof(char *)) };
	size_t function = at == VALUES_AT_USDT ? m->image.functions
					       : function_at(m, found->address, at == VALUES_AT_PROBE);

	*scene = (struct scene){ .known = { .look = variables_look, .context = &m->variables,
					 .follow = debug_info_follow, .follow_context = m->debug, .at = at } };
	making_wish(m, &wish);
	if (function < m->image.functions)
		making_describe(m, function, &wish, &scene->list);
	free(wish.secret);
	/* Where it returns, its arguments are gone. */
	scene->known.word = scene->list.word;
	scene->known.words = at == VALUES_AT_RETURN ? 0 : scene->list.words;
	if (at != VALUES_AT_USDT)
		return;
	scene->known.operand = scene->operand;
	scene->known.operands = operands_read(found->arguments, variables_look, &m->variables, scene->operand);
}

/* All arguments of a probe of the program's own, but those that can't be had. */
static bool ask_operands(struct values_asked *asked, const struct scene *scene, struct values_wrong *wrong)
{
	for (unsigned i = 0; i < scene->known.operands; i++) {
		char name[8];
		snprintf(name, sizeof(name), "arg%u", i + 1);
		if (scene->operand[i].size && !making_ask(asked, name, NULL, &scene->known, wrong))
			return false;
	}
	return true;
}

/* What is known of the function's parameters, or of its result; what a call ends with has no end here. */
static bool ask_list(struct values_asked *asked, const struct scene *scene, bool result, struct values_wrong *wrong)
{
	for (size_t i = 0; i < scene->list.items; i++) {
		struct contexts_item item = scene->list.item[i];
		if (item.role != (result ? VALUES_ROLE_RESULT : VALUES_ROLE_ARGUMENT) || !strncmp(item.text, "out:", 4))
			continue;
		item.role = VALUES_ROLE_OTHER;
		item.place = 0;
		item.marks &= (uint8_t)~(VALUES_MARK_OUT | VALUES_MARK_MORE);
		if (item.when)
			continue;
		if (!making_ask(asked, item.text, &item, &scene->known, wrong) && wrong->too_much)
			return false;
	}
	return true;
}

static bool ask_rule(struct probing *p, struct wanted_rule *rule, const struct scene *scene, uint64_t address,
	struct values_asked *asked, struct values_wrong *wrong)
{
	switch (rule->key) {
	case WANTED_CONTEXT:
		return making_ask(asked, rule->value, NULL, &scene->known, wrong);
	case WANTED_ARGUMENTS:
		if (!asked_may_have(&p->place, rule, function_at(p->m, address, true) < p->m->image.functions, wrong))
			return false;
		return p->place.kind == PLACE_USDT ? ask_operands(asked, scene, wrong)
						   : ask_list(asked, scene, false, wrong);
	case WANTED_RESULT:
		return asked_may_have(&p->place, rule, false, wrong) && ask_list(asked, scene, true, wrong);
	default:
		return true;
	}
}

/* What the rules of the probe ask for. Returns false: some of it is too much. */
static bool ask_all(struct probing *p, const struct scene *scene, uint64_t address, struct values_asked *asked)
{
	struct values_wrong wrong = { 0 };
	bool any = false;

	for (size_t i = p->m->from; i < p->m->to; i++) {
		struct wanted_rule *rule = &p->m->wanted.rule[i];
		if (!p->m->matches[i] || making_is_asked(p->m, i))
			continue;
		any |= rule->key == WANTED_CONTEXT || rule->key == WANTED_ARGUMENTS || rule->key == WANTED_RESULT ||
		       rule->key == WANTED_NONE;
		wrong = (struct values_wrong){ 0 };
		if (ask_rule(p, rule, scene, address, asked, &wrong))
			rule->right |= rule->key == WANTED_CONTEXT;
		else if (wrong.too_much)
			return false;
		else
			making_refuse(p->m, rule, &wrong);
	}
	return any || p->place.kind != PLACE_USDT || ask_operands(asked, scene, &wrong);
}

/* The row that has values and conditions; PROBE_NONE: there are none. */
static uint32_t add_values(struct making *m, const char *name, uint64_t address, struct values_asked *asked,
	const struct contexts_list *list, uint32_t action)
{
	struct plan_function one = { .offset = address, .flags = PLAN_PROBE, .action = action };

	for (size_t i = m->from; i < m->to; i++)
		if (m->matches[i] && m->wanted.rule[i].key == WANTED_EVERY && one.every < m->wanted.rule[i].number)
			one.every = (uint32_t)m->wanted.rule[i].number;
	if (one.every == 1)
		one.every = 0;
	one.entry = making_part(&m->pieces, &asked->entry, list);
	if (!one.entry.size && !one.every && action == PROBE_NONE)
		return PROBE_NONE;
	one.name = pieces_text(&m->pieces, name);
	m->function = memory_grow(m->function, m->functions, sizeof(*m->function));
	m->function[m->functions] = one;
	return m->functions++;
}

/* ---- probes ---- */

static void add_probe(struct probing *p, const struct wanted_rule *at, const struct place_found *found)
{
	struct making *m = p->m;
	const char *name = at->pattern.function;
	struct values_asked asked = { .keeps = 0 };
	struct values_wrong wrong;
	struct scene scene;

	see(p, found, &scene);
	p->found = memory_grow(p->found, p->count, sizeof(*p->found));
	struct plan_probe *probe = &p->found[p->count++].probe;
	*probe = (struct plan_probe){ .address = found->address, .semaphore = found->semaphore, .window = PROBE_NONE,
		.function = PROBE_NONE, .action = PROBE_NONE, .refusal = PROBE_CONDITION };
	probe->name = pieces_text(&m->pieces, name);
	probe->at = pieces_text(&m->pieces, at->value);
	if (making_conditions(m, &asked, &scene.known)) {
		probe->refusal = PROBE_USABLE;
		if (!ask_all(p, &scene, found->address, &asked))
			making_left_out(m, name);
		probe->action = actions_make(m, name, &asked, &scene.known);
		/* Readers need to know nothing of how a function fails. */
		scene.list.has_fails = false;
		if (values_complete(&asked, &wrong))
			probe->function = add_values(m, name, found->address, &asked, &scene.list, probe->action);
	}
	contexts_free(&scene.list);
}

/* All places of a probe count together. */
static void share_counts(struct probing *p, uint32_t probe, uint32_t first)
{
	const uint32_t actions = p->m->actions - first;

	if (p->probe != probe) {
		p->probe = probe;
		p->action = first;
		p->actions = actions;
	}
	for (uint32_t i = 0; i < actions && i < p->actions; i++)
		p->m->action[first + i].counts = p->action + i;
}

/* One place of a probe. */
static void look(struct probing *p, struct wanted_rule *at)
{
	struct making *m = p->m;
	struct place_found *found;
	char *wrong;

	if (!place_read(&p->place, at->value, &wrong)) {
		asked_say(at, wrong);
		free(wrong);
		m->wrong = true;
		return;
	}
	size_t count = place_find(
		&p->place, &m->image, &p->symbols, m->debug, m->path, m->soname, &found, &wrong);
	if (wrong) {
		asked_say(at, wrong);
		/* With some found, it is only to be known. */
		m->wrong |= !count;
		m->said = true;
		free(wrong);
	}
	for (size_t i = 0; i < count; i++) {
		const uint32_t before = m->actions;
		add_probe(p, at, &found[i]);
		share_counts(p, at->probe, before);
	}
	free(found);
	place_free(&p->place);
}

/* ---- windows ---- */

static int by_address(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->probe.address != y->probe.address)
		return x->probe.address < y->probe.address ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* By name, too: texts are kept once each, so their positions tell. */
static int by_name(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->probe.address != y->probe.address)
		return x->probe.address < y->probe.address ? -1 : 1;
	if (x->probe.name != y->probe.name)
		return x->probe.name < y->probe.name ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Numbers all addresses. One that a probe has twice counts once: of its places the first has it. */
static void number_addresses(struct probing *p)
{
	for (size_t i = 0; i < p->count; i++)
		p->found[i].number = (uint32_t)i;
	qsort(p->found, p->count, sizeof(*p->found), by_name);
	for (size_t i = 1; i < p->count; i++)
		if (p->found[i].probe.address == p->found[i - 1].probe.address &&
			p->found[i].probe.name == p->found[i - 1].probe.name && !p->found[i].probe.refusal)
			p->found[i].probe.refusal = PROBE_TWICE;
	qsort(p->found, p->count, sizeof(*p->found), by_address);
	p->address = memory_zeroed(p->count, sizeof(*p->address));
	for (size_t i = 0; i < p->count; i++) {
		struct found *found = &p->found[i];
		found->number = found->probe.refusal ? PROBE_NONE : (uint32_t)p->addresses;
		if (!found->probe.refusal)
			p->address[p->addresses++] = found->probe.address;
	}
}

static void put_window(struct making *m, const struct window *from)
{
	struct plan_window *to = &m->window[m->windows++];

	*to = from->plan;
	to->code = pieces_put(&m->pieces, from->code, from->plan.code_size);
	if (from->plan.fixup_count)
		to->fixups = pieces_put(&m->pieces, from->fixup, from->plan.fixup_count * sizeof(*from->fixup));
}

/* Names the place as the rules can. */
static void name_nearest(struct making *m, struct plan_probe *probe)
{
	size_t function = probe->nearest ? function_at(m, probe->nearest, false) : m->image.functions;
	char offset[24] = "";

	if (function >= m->image.functions || !m->image.function[function].name)
		return;
	uint64_t behind = probe->nearest - m->image.function[function].address;
	if (behind)
		snprintf(offset, sizeof(offset), "+0x%lx", (unsigned long)behind);
	char *text = memory_format("%s%s", m->image.function[function].name, offset);
	probe->nearest_at = 1 + pieces_text(&m->pieces, text); /* 0 is a position, too */
	free(text);
}

/* The probes of the windows, in order, then those that have none. */
static void put_all(struct probing *p, const struct windows *windows)
{
	struct making *m = p->m;
	uint32_t *of_address = memory_zeroed(p->addresses, sizeof(*of_address));

	for (size_t i = 0; i < p->count; i++)
		if (p->found[i].number != PROBE_NONE)
			of_address[p->found[i].number] = (uint32_t)i;
	m->probe = memory_zeroed(p->count, sizeof(*m->probe));
	m->window = memory_zeroed(windows->count + 1, sizeof(*m->window));
	bool *is_other = memory_zeroed(windows->count + 1, sizeof(*is_other));
	for (size_t w = 0; w < windows->count; w++)
		if (windows->window[w].plan.other != PROBE_NONE)
			is_other[windows->window[w].plan.other] = true;
	for (size_t w = 0; w < windows->count; w++) {
		const struct window *from = &windows->window[w];
		put_window(m, from);
		if (is_other[w])
			continue;
		m->window[w].first = m->probes;
		m->window[w].probes = from->addresses;
		for (uint32_t k = 0; k < from->addresses; k++) {
			m->probe[m->probes] = p->found[of_address[from->address[k]]].probe;
			m->probe[m->probes++].window = (uint32_t)w;
		}
	}
	/* They lie behind those that they stand for. */
	for (size_t w = 0; w < windows->count; w++)
		if (m->window[w].other != PROBE_NONE) {
			m->window[m->window[w].other].first = m->window[w].first;
			m->window[m->window[w].other].probes = m->window[w].probes;
		}
	for (size_t i = 0; i < p->count; i++) {
		const struct found *found = &p->found[i];
		const struct window_place *place =
			found->number == PROBE_NONE ? NULL : &windows->place[found->number];
		if (place && place->window != PROBE_NONE)
			continue;
		struct plan_probe *probe = &m->probe[m->probes++];
		*probe = found->probe;
		probe->refusal = place ? place->refusal : found->probe.refusal;
		probe->nearest = place ? place->nearest : 0;
		name_nearest(m, probe);
	}
	free(is_other);
	free(of_address);
}

void making_probes(struct making *m)
{
	struct probing p = { .m = m };
	struct wanted_probe rules = { 0 };
	struct windows windows;
	struct facts facts;

	symbols_begin(&p.symbols, &m->image);
	while (wanted_next(&m->wanted, &rules)) {
		m->from = rules.others;
		m->to = rules.end;
		for (size_t i = m->from; i < m->to; i++)
			m->matches[i] = true;
		for (size_t i = rules.at; i < rules.others; i++)
			look(&p, &m->wanted.rule[i]);
	}
	if (p.count) {
		number_addresses(&p);
		facts_read(&facts, &m->image, index_jobs_for(&m->image));
		windows_make(&windows, &m->image, &facts, p.address, p.addresses);
		put_all(&p, &windows);
		windows_free(&windows);
		facts_free(&facts);
	}
	symbols_end(&p.symbols);
	free(p.address);
	free(p.found);
}
