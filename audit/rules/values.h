/* SPDX-License-Identifier: MIT */
/*
 * Which values of calls are recorded, and which probes there are: the sections [context PATTERN], [prototypes] and
 * [probe NAME], whose lines are collected as RULES of format/plan.h. What their values say is for the command to find
 * out, which makes plans of them. Between rules.c and ini.c; main thread, at start.
 */
#ifndef XAUDIT_AUDIT_RULES_VALUES_H
#define XAUDIT_AUDIT_RULES_VALUES_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

#define RULES_VALUES_MAX      (4u << 20) /* bytes of a text */
#define RULES_VALUES_MAX_TEXT "4 MiB"
#define RULES_CONTEXT_KEYS    "context, if, every, longer, secret, request, trust, then"
#define RULES_VALUES_PROBE    "probe " /* before keys of [probe NAME], in a line */
#define RULES_PROBE_KEYS      "at, context, if, every, then"

struct rules_values_line;

/* The lines of a text; zeros: none. */
struct rules_values {
	struct rules_values_line *first, **last;
	size_t size; /* bytes of all */
};

bool rules_values_is_key(const char *word, size_t length);

/* A part of a line; length 0: nothing. */
struct rules_values_part {
	const char *text;
	size_t length;
};

/* What lines have for this key of [probe NAME], as "probe at"; length 0: there is no such key. */
struct rules_values_part rules_values_probe_key(const char *word, size_t length);

/* Adds a line, of a line of the text `name`; number 0: it has none. Returns 0, or -1: there is no memory. */
int rules_values_add(struct rules_values *to, struct arena *arena, const char *name, int number,
	struct rules_values_part pattern, struct rules_values_part key, struct rules_values_part value);

/*
 * Joins them, first those of `a`. bare: without all that asks for values, but with probes. *text becomes NULL if there
 * are none. Returns 0, or -1: there is no memory.
 */
int rules_values_join(const char **text, struct arena *arena, const struct rules_values *a,
	const struct rules_values *b, bool bare);

#endif
