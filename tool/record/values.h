/* SPDX-License-Identifier: MIT */
/*
 * The options about values of calls, as sections [context] of the rules:
 *
 *	--context CONTEXTS		of all functions that are traced
 *	--context FUNC:CONTEXTS		of these, if FUNC is no word of a context or a type
 *	--context FUNC=CONTEXTS		of these
 *
 *	--request FUNC:CONTEXT		calls of these begin requests
 *
 * CONTEXTS has commas between contexts, of which each may be KEY=VALUE, where KEY is one of [context].
 */
#ifndef XAUDIT_TOOL_RECORD_VALUES_H
#define XAUDIT_TOOL_RECORD_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct record_options;
struct rules;

/* Bytes of FUNC in --request; 0: it is wrong. */
size_t record_values_request(const char *option);

/* Is FUNC in front of the contexts of --context? */
bool record_values_of_function(const char *option);

/* Write the section of --context; of another pattern. Return false after a line about what is wrong. */
bool record_values_context(FILE *to, const char *option);
bool record_values_contexts(FILE *to, const char *option, const char *pattern, const char *contexts);

/* The same of the action of --then. */
bool record_values_then(FILE *to, const char *option, const char *pattern, const char *action);

/*
 * Writes the sections of the options. found: rules whose own sections are to be written, too; NULL: none. Returns false
 * after a line about one that is wrong.
 */
bool record_values_put(FILE *to, const struct record_options *options, const struct rules *found);

/* Are the rules' sections as they should be? Else that was said. */
bool record_values_check(const struct rules *rules);

#endif
