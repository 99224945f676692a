/* SPDX-License-Identifier: MIT */
/* A line of RULES (format/plan.h), by which values are recorded: WHERE, PATTERN, KEY and VALUE. Any thread. */
#ifndef XAUDIT_TOOL_CTL_RULE_LINE_H
#define XAUDIT_TOOL_CTL_RULE_LINE_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "audit/rules/values.h"

struct rule_line {
	const char *where, *pattern, *key, *value; /* pattern of functions, or the name of a probe */
	bool of_probe; /* key begins with RULES_VALUES_PROBE */
};

/*
 * Takes the line at *next apart, in place, and goes to the one behind it; what is no such line is left out. Returns
 * false: there is none any more.
 */
static inline bool rule_line_next(char **next, struct rule_line *rule)
{
	while (**next) {
		const char *part[4] = { *next };
		char *end = *next + strcspn(*next, "\n");
		unsigned parts = 1;

		*next = *end ? end + 1 : end;
		*end = '\0';
		for (char *tab; parts < 4 && (tab = strchr(part[parts - 1], '\t')); parts++) {
			*tab = '\0';
			part[parts] = tab + 1;
		}
		if (parts < 4)
			continue;
		*rule = (struct rule_line){ part[0], part[1], part[2], part[3],
			!strncmp(part[2], RULES_VALUES_PROBE, sizeof(RULES_VALUES_PROBE) - 1) };
		return true;
	}
	return false;
}

static inline void rule_line_put(FILE *to, const struct rule_line *rule)
{
	fprintf(to, "%s\t%s\t%s\t%s\n", rule->where, rule->pattern, rule->key, rule->value);
}

#endif
