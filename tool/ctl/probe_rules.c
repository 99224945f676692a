/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/probe_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/match/match.h"
#include "tool/base/memory.h"
#include "tool/ctl/rule_line.h"

static struct probe_rule rule_of(const char *where, const char *name, const char *key, const char *value, bool older)
{
	return (struct probe_rule){ memory_text(where, strlen(where)), memory_text(name, strlen(name)),
		memory_text(key, strlen(key)), memory_text(value, strlen(value)), older };
}

void probe_rules_read(struct probe_rules *to, const char *text)
{
	char *copy = memory_text(text ? text : "", text ? strlen(text) : 0), *next = copy;
	struct rule_line line;
	size_t size;

	*to = (struct probe_rules){ 0 };
	FILE *others = memory_need(open_memstream(&to->others, &size));
	while (rule_line_next(&next, &line)) {
		if (!*line.pattern)
			rule_line_put(others, &line);
		if (!line.of_probe)
			continue;
		to->rule = memory_grow(to->rule, to->rules, sizeof(*to->rule));
		to->rule[to->rules++] =
			rule_of(line.where, line.pattern, line.key + sizeof(RULES_VALUES_PROBE) - 1, line.value, true);
	}
	if (fclose(others))
		memory_failed();
	free(copy);
}

static void free_rule(struct probe_rule *rule)
{
	free(rule->where);
	free(rule->name);
	free(rule->key);
	free(rule->value);
}

void probe_rules_free(struct probe_rules *rules)
{
	for (size_t i = 0; i < rules->rules; i++)
		free_rule(&rules->rule[i]);
	free(rules->rule);
	free(rules->others);
	*rules = (struct probe_rules){ 0 };
}

/* Behind the last rule of that name; 0: there is none. */
static size_t end_of(const struct probe_rules *rules, const char *name)
{
	size_t n = rules->rules;

	while (n && strcmp(rules->rule[n - 1].name, name) != 0)
		n--;
	return n;
}

bool probe_rules_have(const struct probe_rules *rules, const char *name)
{
	return end_of(rules, name) > 0;
}

void probe_rules_add(struct probe_rules *to, const char *where, const char *name, const char *key, const char *value)
{
	size_t at = end_of(to, name);

	at = at ? at : to->rules;
	to->rule = memory_grow(to->rule, to->rules, sizeof(*to->rule));
	memmove(to->rule + at + 1, to->rule + at, (to->rules - at) * sizeof(*to->rule));
	to->rules++;
	to->rule[at] = rule_of(where, name, key, value, false);
}

size_t probe_rules_drop(struct probe_rules *rules, const char *name, bool is_pattern)
{
	size_t left = 0, probes = 0;
	char *last = NULL; /* name of the last probe that was dropped */

	for (size_t i = 0; i < rules->rules; i++) {
		struct probe_rule *rule = &rules->rule[i];
		/* A name that is a place may have characters of patterns. */
		if (strcmp(rule->name, name) != 0 && !(is_pattern && rules_glob(name, rule->name))) {
			rules->rule[left++] = *rule;
			continue;
		}
		if (!last || strcmp(last, rule->name) != 0) {
			probes++;
			free(last);
			last = memory_text(rule->name, strlen(rule->name));
		}
		free_rule(rule);
	}
	free(last);
	rules->rules = left;
	return probes;
}

static bool is_context(const struct probe_rule *rule)
{
	return !strcmp(rule->key, "context") || !strcmp(rule->key, "if") || !strcmp(rule->key, "every") ||
	       !strcmp(rule->key, "then");
}

bool probe_rules_drop_contexts(struct probe_rules *rules, const char *name)
{
	size_t left = 0, before = rules->rules;

	for (size_t i = 0; i < before; i++) {
		struct probe_rule *rule = &rules->rule[i];
		if (!strcmp(rule->name, name) && is_context(rule))
			free_rule(rule);
		else
			rules->rule[left++] = *rule;
	}
	rules->rules = left;
	return left < before;
}

static char *text_of(const struct probe_rules *rules, const char *name, bool quiet)
{
	char *text;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));

	for (size_t i = 0; i < rules->rules; i++) {
		const struct probe_rule *rule = &rules->rule[i];
		if (!name || !strcmp(rule->name, name))
			fprintf(to, "%s\t%s\t" RULES_VALUES_PROBE "%s\t%s\n", quiet && rule->older ? "" : rule->where,
				rule->name, rule->key, rule->value);
	}
	if (fclose(to))
		memory_failed();
	return text;
}

char *probe_rules_text(const struct probe_rules *rules, const char *name)
{
	return text_of(rules, name, false);
}

char *probe_rules_quiet(const struct probe_rules *rules)
{
	return text_of(rules, NULL, true);
}
