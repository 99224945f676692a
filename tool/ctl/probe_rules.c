/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/probe_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/match/match.h"
#include "tool/base/memory.h"

static const char prefix[] = "probe ";
#define PREFIX (sizeof(prefix) - 1)

/* WHERE, NAME, KEY and VALUE of a line that ends at `end`. Returns false: it has fewer parts. */
static bool divide(const char *line, const char *end, const char *part[4], size_t length[4])
{
	for (int i = 0; i < 4; i++) {
		const char *tab = i < 3 ? memchr(line, '\t', (size_t)(end - line)) : end;
		if (!tab)
			return false;
		part[i] = line;
		length[i] = (size_t)(tab - line);
		line = tab + 1;
	}
	return true;
}

void probe_rules_read(struct probe_rules *to, const char *text)
{
	size_t size;

	*to = (struct probe_rules){ 0 };
	FILE *others = memory_need(open_memstream(&to->others, &size));
	for (const char *line = text ? text : "", *next; *line; line = next) {
		const char *end = strchrnul(line, '\n'), *part[4];
		size_t length[4];
		next = *end ? end + 1 : end;
		if (!divide(line, end, part, length))
			continue;
		if (!length[1])
			fprintf(others, "%.*s\n", (int)(end - line), line);
		if (length[2] < PREFIX || strncmp(part[2], prefix, PREFIX) != 0)
			continue;
		to->rule = memory_grow(to->rule, to->rules, sizeof(*to->rule));
		to->rule[to->rules++] = (struct probe_rule){ memory_text(part[0], length[0]),
			memory_text(part[1], length[1]), memory_text(part[2] + PREFIX, length[2] - PREFIX),
			memory_text(part[3], length[3]), true };
	}
	if (fclose(others))
		memory_failed();
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
	to->rule[at] = (struct probe_rule){ memory_text(where, strlen(where)), memory_text(name, strlen(name)),
		memory_text(key, strlen(key)), memory_text(value, strlen(value)), false };
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
			fprintf(to, "%s\t%s\t%s%s\t%s\n", quiet && rule->older ? "" : rule->where, rule->name, prefix,
				rule->key, rule->value);
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
