/* SPDX-License-Identifier: MIT */
#include "audit/asked.h"

#include <errno.h> /* EINVAL */

#include "runtime/arena.h"
#include "runtime/sys.h"

int asked_parse(struct asked_rule *rule, char *text)
{
	char *p = text, *colon = text;

	*rule = (struct asked_rule){ .kinds = ASKED_ALL_KINDS };
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

int asked_matches(const struct asked_rule *rule, const struct object *object, int kind, const char *function)
{
	const struct rules_pattern pattern = { .function = rule->function, .library = rule->library };

	return rule->kinds & 1u << kind && rules_match(&pattern, function, object->path, object->soname);
}

int asked_concerns(const struct asked_rule *rule, const struct object *object)
{
	const struct rules_pattern any = { .function = "*", .library = rule->library };

	return rules_match(&any, "", object->path, object->soname);
}

/* What was asked, oldest first. Written with the process lock held. */
struct asked {
	struct asked *next;
	struct asked_rule rule;
	int on;
};

static struct asked *asked;
static struct arena asked_memory;

static int same_text(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	size_t n = sys_length(a);
	return n == sys_length(b) && sys_same(a, b, n);
}

int asked_remember(int on, const struct asked_rule *rule)
{
	struct asked *found = NULL, **end = &asked;

	if (rule->kinds == ASKED_ALL_KINDS && same_text(rule->function, "*") && !rule->library) {
		/* Nothing that came before counts any more. The arena may hold the rule itself never: it is the caller's. */
		asked = NULL;
		arena_free(&asked_memory);
	}
	while (*end) {
		struct asked *a = *end;
		if (a->rule.kinds == rule->kinds && same_text(a->rule.function, rule->function) &&
			same_text(a->rule.library, rule->library)) {
			found = a;
			*end = a->next;
		} else {
			end = &a->next;
		}
	}
	if (!found) {
		found = arena_alloc(&asked_memory, sizeof(*found));
		if (!found)
			return -ENOMEM;
		found->rule.kinds = rule->kinds;
		found->rule.function = arena_string(&asked_memory, rule->function, sys_length(rule->function));
		if (rule->library)
			found->rule.library = arena_string(&asked_memory, rule->library, sys_length(rule->library));
		if (!found->rule.function || (rule->library && !found->rule.library))
			return -ENOMEM;
	}
	found->on = on;
	found->next = NULL;
	*end = found;
	return 0;
}

int asked_selects(const struct object *object, int kind, const char *function, int by_rules)
{
	int on = by_rules;

	for (const struct asked *a = asked; a; a = a->next)
		if (asked_matches(&a->rule, object, kind, function))
			on = a->on;
	return on;
}
