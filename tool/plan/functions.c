/* SPDX-License-Identifier: MIT */
#include "tool/plan/functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/plan/actions.h"
#include "tool/values/condition.h"
#include "tool/values/layout.h"
#include "tool/values/library.h"

static int by_function(const void *a, const void *b)
{
	const struct image_alias *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The function's names, one after another: NULL behind the last one. The first may be NULL, too: it has none. */
static const char *name_of(const struct making *m, size_t function, size_t number)
{
	size_t low = 0, high = m->image.aliases;

	if (!number)
		return m->image.function[function].name;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (m->alias[middle].function < function)
			low = middle + 1;
		else
			high = middle;
	}
	low += number - 1;
	return low < m->image.aliases && m->alias[low].function == function ? m->alias[low].name : NULL;
}

/* Fills m->matches. Returns false: nothing is wanted of the function. */
static bool match(struct making *m, size_t function)
{
	bool any = false;

	for (size_t i = m->from; i < m->to; i++) {
		const struct rules_pattern *pattern = &m->wanted.rule[i].pattern;
		/* Keys of one section follow each other. */
		if (i > m->from &&
			!strcmp(pattern->function, m->wanted.rule[i - 1].pattern.function) &&
			!pattern->library == !m->wanted.rule[i - 1].pattern.library &&
			(!pattern->library || !strcmp(pattern->library, m->wanted.rule[i - 1].pattern.library))) {
			m->matches[i] = m->matches[i - 1];
			continue;
		}
		const char *name = name_of(m, function, 0);
		bool matches = rules_match(pattern, name, m->path, m->soname);
		for (size_t n = 1; !matches && (name = name_of(m, function, n)); n++)
			matches = rules_match(pattern, name, m->path, m->soname);
		m->matches[i] = matches;
		any |= matches;
	}
	return any;
}

/* Do both say the same of where arguments are, and of how large they are? */
static bool are_alike(const struct contexts_list *a, const struct contexts_list *b)
{
	if (a->words != b->words)
		return false;
	for (size_t i = 0; i < a->words; i++) {
		const struct values_word *x = &a->word[i], *y = b->word;
		while (y < b->word + b->words && (x->op != y->op || x->operand != y->operand))
			y++;
		if (y == b->word + b->words || (x->size ? x->size : 8) != (y->size ? y->size : 8))
			return false;
	}
	return true;
}

/*
 * Of what a resolver of the file chooses, that one's: `__strlen_avx2` is a strlen, if that is a resolver. NULL: none.
 */
static const struct prototype *of_resolver(struct making *m, const char *name, const char *library)
{
	const struct prototype *found = NULL;

	if (!name || strncmp(name, "__", 2) != 0)
		return NULL;
	char *shorter = memory_text(name + 2, strlen(name + 2));
	for (char *end; !found && (end = strrchr(shorter, '_')) && end > shorter;) {
		*end = '\0';
		for (size_t i = 0; !found && i < m->resolvers; i++)
			if (!strcmp(m->resolver[i], shorter))
				found = library_prototype(m->prototypes, shorter, library);
	}
	free(shorter);
	return found;
}

static void find_resolvers(struct making *m)
{
	const char *name;

	for (size_t i = 0; i < m->image.functions; i++)
		for (size_t n = 0; m->image.function[i].resolver && (name = name_of(m, i, n)); n++) {
			m->resolver = memory_grow(m->resolver, m->resolvers, sizeof(*m->resolver));
			m->resolver[m->resolvers++] = name;
		}
}

void making_describe(struct making *m, size_t function, const struct contexts_wish *wish, struct contexts_list *list)
{
	const char *library = m->soname ? m->soname : tool_base(m->path), *name;
	const struct prototype *found = NULL;
	struct contexts_list told = { 0 };

	for (size_t n = 0; !found && (name = name_of(m, function, n)); n++)
		found = library_prototype(m->prototypes, name, library);
	for (size_t n = 0; !found && (name = name_of(m, function, n)); n++)
		found = of_resolver(m, name, library);
	if (found)
		contexts_of(&told, found, wish);
	/* Of a resolver it tells what that is, not what it chooses. */
	if ((!found || found->text <= m->own) && !m->image.function[function].resolver &&
		debug_info_contexts(m->debug, m->image.function[function].address, m->image.function[function].name,
			wish, list) &&
		(!found || !are_alike(list, &told))) {
		contexts_free(&told);
		return;
	}
	contexts_free(list);
	*list = told;
}

void making_wish(const struct making *m, struct contexts_wish *wish)
{
	for (size_t i = m->from; i < m->to; i++) {
		const struct wanted_rule *rule = &m->wanted.rule[i];
		if (!m->matches[i])
			continue;
		if (rule->key == WANTED_ARGUMENTS) {
			wish->arguments = true;
			wish->contents |= rule->contents;
			if (wish->depth < rule->number)
				wish->depth = (uint32_t)rule->number;
		} else if (rule->key == WANTED_REQUEST) {
			wish->arguments = true; /* it may be one of them */
		} else if (rule->key == WANTED_RESULT) {
			wish->result = true;
		} else if (rule->key == WANTED_TRUST) {
			wish->trust = rule->number != 0;
		} else if (rule->key == WANTED_SECRET) {
			wish->secret[wish->secrets++] = rule->value;
		}
	}
}

/* Would it still be code, with all that is asked for so far? */
static bool fits(const struct values_asked *asked, struct values_wrong *wrong)
{
	struct values_asked whole = *asked;

	return values_complete(&whole, wrong);
}

bool making_ask(struct values_asked *asked, const char *text, const struct contexts_item *item,
	const struct values_known *known, struct values_wrong *wrong)
{
	struct values_asked before = *asked;
	struct values_known with = *known;

	with.trusts = item && item->trusts;
	bool right = item && item->is_fixed ? values_ask_fixed(asked, text, &item->fixed, wrong)
					    : values_ask(asked, text, &with, wrong);
	if (!right || !fits(asked, wrong)) {
		*asked = before;
		return false;
	}
	for (int end = 0; item && end < 2; end++) {
		struct values_program *program = end ? &asked->end : &asked->entry;
		for (uint32_t i = end ? before.end.values : before.entry.values; i < program->values; i++) {
			program->value[i].role = item->role;
			program->value[i].place = item->place;
			program->value[i].marks = item->marks;
			program->value[i].names = item->names;
			program->value[i].words = item->words;
			program->value[i].when = item->when;
		}
	}
	return true;
}

bool making_is_asked(const struct making *m, size_t rule)
{
	const struct wanted_rule *this = &m->wanted.rule[rule];

	for (size_t i = m->from; i < rule; i++)
		if (m->matches[i] && m->wanted.rule[i].key == this->key &&
			!strcmp(m->wanted.rule[i].value, this->value))
			return true;
	return false;
}

void making_refuse(struct making *m, struct wanted_rule *rule, const struct values_wrong *wrong)
{
	if (wrong->unknown) {
		rule->unknown = true;
		rule->wrong = *wrong;
		return;
	}
	m->wrong = true;
	wanted_wrong(rule, wrong);
}

bool making_conditions(struct making *m, struct values_asked *asked, const struct values_known *known)
{
	struct values_wrong wrong = { 0 };

	for (size_t i = m->from; i < m->to; i++) {
		struct wanted_rule *rule = &m->wanted.rule[i];
		if (!m->matches[i] || rule->key != WANTED_IF || making_is_asked(m, i))
			continue;
		if (!values_ask_if(asked, rule->value, known, &wrong) || !fits(asked, &wrong)) {
			making_refuse(m, rule, &wrong);
			return false;
		}
		rule->right = true;
	}
	return true;
}

/* What `args` would have of the argument that a request is named by, if it is one: with its type, and its names. */
static const struct contexts_item *argument_of(const struct contexts_list *list, const char *context)
{
	for (size_t i = 0; i < list->items; i++) {
		const struct contexts_item *item = &list->item[i];
		const char *name = strchr(item->text, ':'), *at = name ? strchr(name + 1, ':') : NULL;
		if (item->role != VALUES_ROLE_ARGUMENT || !at || !strncmp(item->text, "out:", 4))
			continue;
		size_t length = (size_t)(at - name - 1);
		if (!strcmp(at + 1, context) ||
			(strlen(context) == length && !strncmp(context, name + 1, length)))
			return item;
	}
	return NULL;
}

/*
 * The first rule that matches and says what requests are named by: before all other values. Returns false: it is too
 * much.
 */
static bool ask_request(struct making *m, struct values_asked *asked, const struct contexts_list *list,
	const struct values_known *known)
{
	struct values_wrong wrong = { 0 };

	for (size_t i = m->from; i < m->to; i++) {
		struct wanted_rule *rule = &m->wanted.rule[i];
		if (!m->matches[i] || rule->key != WANTED_REQUEST)
			continue;
		const struct contexts_item *item = argument_of(list, rule->value);
		struct values_asked before = *asked;
		if (!wanted_ask_request(asked, item ? item->text : rule->value, known, &wrong) ||
			!fits(asked, &wrong)) {
			*asked = before;
			wrong.unknown |= wanted_may_be_parameter(rule->value);
			making_refuse(m, rule, &wrong);
			return !wrong.too_much;
		}
		struct values_value *value = &asked->entry.value[asked->entry.values - 1];
		value->role = VALUES_ROLE_REQUEST;
		value->marks = item ? item->marks & (uint8_t)~VALUES_MARK_MORE : 0;
		value->names = item ? item->names : NULL;
		snprintf(value->name, sizeof(value->name), "request");
		rule->right = true;
		return true;
	}
	return true;
}

/* The rules that match ask for contexts. Returns false: some of it is too much. */
static bool ask_all(struct making *m, struct values_asked *asked, const struct contexts_list *list,
	const struct values_known *known)
{
	struct values_wrong wrong = { 0 };
	bool whole = true, done[2] = { false, false };

	for (size_t i = m->from; i < m->to && whole; i++) {
		struct wanted_rule *rule = &m->wanted.rule[i];
		bool result = rule->key == WANTED_RESULT;
		if (!m->matches[i] || making_is_asked(m, i))
			continue;
		if (rule->key == WANTED_CONTEXT) {
			bool right = making_ask(asked, rule->value, NULL, known, &wrong);
			whole = right || !wrong.too_much;
			rule->right |= right || !whole;
			if (!right && whole)
				making_refuse(m, rule, &wrong);
		}
		if ((rule->key != WANTED_ARGUMENTS && !result) || done[result])
			continue;
		done[result] = true;
		for (size_t k = 0; k < list->items && whole; k++)
			if ((list->item[k].role != VALUES_ROLE_ARGUMENT) == result)
				whole = making_ask(asked, list->item[k].text, &list->item[k], known, &wrong) ||
					!wrong.too_much;
	}
	return whole;
}

struct plan_part making_part(struct pieces *to, const struct values_program *program, const struct contexts_list *of)
{
	struct plan_part part = { .size = (uint32_t)program->size };
	size_t bytes;

	if (!program->size || program->code[0] == VALUES_END)
		return (struct plan_part){ 0 };
	part.code = pieces_put(to, program->code, program->size);
	if (!program->values)
		return part;
	void *layout = layout_make(program, of, &bytes);
	part.layout = pieces_put(to, layout, bytes);
	part.bytes = (uint32_t)bytes;
	free(layout);
	return part;
}

static void add_function(struct making *m, size_t function, const struct values_asked *asked,
	const struct contexts_list *list, uint32_t action)
{
	const char *name = m->image.function[function].name;
	struct plan_function one = { .offset = m->image.function[function].address, .action = action };

	for (size_t i = m->from; i < m->to; i++) {
		const struct wanted_rule *rule = &m->wanted.rule[i];
		if (m->matches[i] && rule->key == WANTED_EVERY && one.every < rule->number)
			one.every = (uint32_t)rule->number;
		if (m->matches[i] && rule->key == WANTED_LONGER && one.longer < rule->number)
			one.longer = rule->number;
	}
	one.entry = making_part(&m->pieces, &asked->entry, list);
	one.end = making_part(&m->pieces, &asked->end, list);
	if (one.every == 1)
		one.every = 0;
	if (!one.entry.size && !one.end.size && !one.every && !one.longer && action == PROBE_NONE)
		return;
	/* What a resolver chooses is found by the name that its caller has for it. */
	size_t n = 0;
	do {
		one.name = pieces_text(&m->pieces, name ? name : "");
		m->function = memory_grow(m->function, m->functions, sizeof(*m->function));
		m->function[m->functions++] = one;
	} while (m->image.function[function].resolver && (name = name_of(m, function, ++n)));
}

void making_left_out(struct making *m, const char *name)
{
	if (!m->left_outs++)
		m->left_out = name ? name : "a function without a name";
}

static void make_function(struct making *m, size_t function)
{
	struct contexts_wish wish = { .secret = memory_zeroed(m->to - m->from, sizeof(char *)) };
	struct contexts_list list = { 0 };
	struct values_asked asked = { .keeps = 0 };
	struct values_wrong wrong;

	making_wish(m, &wish);
	making_describe(m, function, &wish, &list);
	const struct values_known known = { .look = variables_look, .context = &m->variables,
		.follow = debug_info_follow, .follow_context = m->debug, .word = list.word, .words = list.words,
		.has_malloc = m->has_malloc, .relays = m->relays };
	if (making_conditions(m, &asked, &known)) {
		if (!ask_request(m, &asked, &list, &known) || !ask_all(m, &asked, &list, &known))
			making_left_out(m, m->image.function[function].name);
		const char *name = m->image.function[function].name;
		const uint32_t action = actions_make(m, name ? name : "", &asked, &known);
		if (values_complete(&asked, &wrong))
			add_function(m, function, &asked, &list, action);
	}
	contexts_free(&list);
	free(wish.secret);
}

/* Does the object define a function of this name? */
static bool has_function(const struct making *m, const char *name)
{
	for (size_t i = 0; i < m->image.functions; i++)
		if (m->image.function[i].name && !strcmp(m->image.function[i].name, name))
			return true;
	for (size_t i = 0; i < m->image.aliases; i++)
		if (!strcmp(m->image.alias[i].name, name))
			return true;
	return false;
}

void making_functions(struct making *m)
{
	m->alias = memory_zeroed(m->image.aliases + 1, sizeof(*m->alias));
	if (m->image.aliases)
		memcpy(m->alias, m->image.alias, m->image.aliases * sizeof(*m->alias));
	qsort(m->alias, m->image.aliases, sizeof(*m->alias), by_function);
	find_resolvers(m);
	m->from = 0;
	m->to = m->wanted.of_functions;
	m->has_malloc = has_function(m, "malloc");
	m->relays = m->has_malloc && has_function(m, "__libc_malloc");
	for (size_t i = 0; i < m->image.functions; i++)
		if (!m->image.function[i].piece && match(m, i))
			make_function(m, i);
}
