/* SPDX-License-Identifier: MIT */
#include "audit/live/requests.h"

#include <errno.h> /* EINVAL */
#include <stdbool.h>

#include "audit/live/announce.h"
#include "runtime/base/arena.h"
#include "runtime/control.h"
#include "x86_64/sys.h"

int requests_parse(struct requests_rule *rule, char *text)
{
	char *p = text, *colon = text;

	*rule = (struct requests_rule){ .kinds = REQUESTS_ALL_KINDS };
	while (*colon && *colon != ':' && *colon != '@')
		colon++;
	if (*colon == ':' && colon[1] != ':') {
		rule->kinds = 0;
		for (char *word = text; word <= colon;) {
			char *end = word;
			while (*end != ',' && end != colon)
				end++;
			int kind = rules_kind(word, (size_t)(end - word));
			if (kind < 0)
				return -EINVAL;
			rule->kinds |= 1u << kind;
			word = end + 1;
		}
		p = colon + 1;
	}
	rule->function = p;
	while (*p && *p != '@')
		p++;
	if (p == rule->function)
		return -EINVAL;
	if (!*p)
		return 0;
	*p = '\0';
	rule->library = p + 1;
	return *rule->library ? 0 : -EINVAL;
}

bool requests_matches(const struct requests_rule *rule, const struct object *object, int kind, const char *function)
{
	const struct rules_pattern pattern = { .function = rule->function, .library = rule->library };

	return rule->kinds & 1u << kind && rules_match(&pattern, function, object->path, object->soname);
}

bool requests_concerns(const struct requests_rule *rule, const struct object *object)
{
	const struct rules_pattern any = { .function = "*", .library = rule->library };

	return rules_match(&any, "", object->path, object->soname);
}

/* The requests, oldest first. Written with the process lock held. */
struct asked {
	struct asked *next;
	struct requests_rule rule;
	int on;
};

static struct asked *asked;
static struct asked *spare; /* its memory is free */
static struct arena asked_memory;

static bool same_text(const char *a, const char *b)
{
	return a && b ? sys_same_text(a, b) : a == b;
}

/*
 * A rule that is in the list already becomes the last: a copy is added at the end before the old element is removed. So
 * a child that another thread forks meanwhile has the rule once or twice; both are correct. Returns 0 or -ENOMEM.
 */
static int ask_again(struct asked **found, struct asked **end, int on)
{
	struct asked *old = *found, *copy = spare;

	old->on = on;
	if (!old->next)
		return 0;
	if (!copy && !(copy = arena_alloc(&asked_memory, sizeof(*copy))))
		return -ENOMEM;
	*copy = (struct asked){ .rule = old->rule, .on = on };
	spare = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the only partner of this fence and the next two is that child */
	*end = copy;
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* as above */
	*found = old->next;
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* as above */
	spare = old;
	return 0;
}

int requests_remember(int on, const struct requests_rule *rule)
{
	struct asked **found = NULL, **end = &asked, *new;

	if (rule->kinds == REQUESTS_ALL_KINDS && same_text(rule->function, "*") && !rule->library) {
		/* No earlier request counts any more. The rule itself never lies in the arena: it is the caller's. */
		asked = spare = NULL;
		arena_free(&asked_memory);
	}
	for (; *end; end = &(*end)->next) {
		const struct requests_rule *r = &(*end)->rule;
		if (r->kinds == rule->kinds && same_text(r->function, rule->function) &&
			same_text(r->library, rule->library))
			found = end;
	}
	if (found)
		return ask_again(found, end, on);
	new = arena_alloc(&asked_memory, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->rule.kinds = rule->kinds;
	new->rule.function = arena_string(&asked_memory, rule->function, sys_length(rule->function));
	if (rule->library)
		new->rule.library = arena_string(&asked_memory, rule->library, sys_length(rule->library));
	if (!new->rule.function || (rule->library && !new->rule.library))
		return -ENOMEM;
	new->on = on;
	/* Its only partner is a child that is forked meanwhile: that has the whole rule, or none. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*end = new;
	return 0;
}

const struct requests_rule *requests_each(const void **at, int *on)
{
	const struct asked *next = *at ? ((const struct asked *)*at)->next : asked;

	*at = next;
	if (!next)
		return NULL;
	*on = next->on;
	return &next->rule;
}

int requests_ask_for(const struct object *object, unsigned kind)
{
	for (const struct asked *a = asked; a; a = a->next)
		if (a->on && a->rule.kinds != REQUESTS_ALL_KINDS && a->rule.kinds >> kind & 1 &&
			requests_concerns(&a->rule, object))
			return 1;
	return 0;
}

int requests_selects(const struct object *object, int kind, const char *function, int by_rules)
{
	int on = by_rules;

	for (const struct asked *a = asked; a; a = a->next)
		if (requests_matches(&a->rule, object, kind, function))
			on = a->on;
	return on;
}

/* ---- names ---- */

static struct rules_name *names; /* the newest first. Lock; `xaudit ctl` reads it as it likes */
static struct arena names_memory; /* of those that are not the rules': for as long as the process lives */

struct rules_name *const *requests_names_place(const struct rules *rules)
{
	names = rules->names;
	return &names;
}

bool requests_have_names(void)
{
	return names;
}

const char *requests_name_of(const struct object *object, const char *symbol)
{
	return rules_name_of(names, symbol, object->path, object->soname);
}

/* The one of that pattern; NULL: there is none. */
static struct rules_name *find_name(const struct rules_pattern *pattern)
{
	struct rules_name *name = names;

	while (name && !(same_text(name->pattern->function, pattern->function) &&
			       same_text(name->pattern->library, pattern->library)))
		name = name->next;
	return name;
}

/* Returns 0 or -ENOMEM. */
static int give_name(const struct rules_pattern *pattern, const char *text)
{
	struct rules_name *old = find_name(pattern);
	struct rules_name *name = arena_alloc(&names_memory, sizeof(*name));

	if (!name || !(name->name = arena_string(&names_memory, text, sys_length(text))))
		return -ENOMEM;
	if (old) {
		name->pattern = old->pattern;
	} else if ((name->pattern = arena_alloc(&names_memory, sizeof(*name->pattern)))) {
		name->pattern->next = NULL;
		name->pattern->function = arena_string(&names_memory, pattern->function, sys_length(pattern->function));
		name->pattern->library = NULL;
		if (pattern->library)
			name->pattern->library =
				arena_string(&names_memory, pattern->library, sys_length(pattern->library));
	}
	if (!name->pattern || !name->pattern->function || (pattern->library && !name->pattern->library))
		return -ENOMEM;
	/* One of a pattern that was there counts no more: it comes behind. */
	name->next = names;
	/* Its only partner is a child that is forked meanwhile: that has the whole name, or none. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	names = name;
	return 0;
}

/* Takes FUNCTION[@LIBRARY] apart, in place. Returns false: there is no function, or no library behind the @. */
static bool take_pattern(struct rules_pattern *pattern, char *text)
{
	char *at = text;

	while (*at && *at != '@')
		at++;
	*pattern = (struct rules_pattern){ .function = text, .library = *at ? at + 1 : NULL };
	*at = '\0';
	return *text && (!pattern->library || *pattern->library);
}

int requests_take_names(struct control_request *request)
{
	char *p = request->text, *end = request->text + CONTROL_TEXT;
	int r = 0;

	end[-1] = '\0';
	while (r == 0 && p < end && *p) {
		char *name = p + sys_length(p) + 1;
		struct rules_pattern pattern;
		if (name >= end || !*name || !take_pattern(&pattern, p))
			return -EINVAL;
		p = name + sys_length(name) + 1;
		r = give_name(&pattern, name);
		for (struct object *object = objects; object && r == 0; object = object->next)
			request->result.functions += announce_renamed(object, &pattern);
	}
	return r;
}
