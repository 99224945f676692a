/* SPDX-License-Identifier: MIT */
/*
 * What is recorded of a function whose parameters are known: the contexts `args` and `retval`, as a list of contexts
 * (expression.h) with what readers have to know of each. A parameter that must not be recorded (contexts_secret()) is
 * not among them, or only as an address.
 *
 * Memory that runs out ends the command. One thread.
 */
#ifndef XAUDIT_TOOL_VALUES_CONTEXTS_H
#define XAUDIT_TOOL_VALUES_CONTEXTS_H

#include <stdbool.h>

#include "tool/values/expression.h"
#include "tool/values/prototype.h"

/* What is asked for. */
struct contexts_wish {
	bool arguments, result;
	bool contents;	/* with the bytes that parameters point to, else their addresses */
	bool trust;	/* texts and bytes that the function reads itself are read as they are */
	uint32_t depth; /* levels of structures; 0: as a rule, 1 */
	char **secret;	/* more patterns of names that are never recorded */
	size_t secrets;
};

struct contexts_item {
	char *text; /* one context */
	uint8_t role, place, marks;
	const struct prototype_names *names; /* NULL: none */
	char *when; /* as trace_value.when; NULL: it always counts */
	char *words; /* of structures, as trace_value.words; NULL */
	bool trusts;
	bool is_fixed; /* `text` is a name alone, of `fixed` */
	struct values_fixed fixed;
};

struct contexts_list {
	struct contexts_item *item; /* in order */
	size_t items;
	struct values_word *word; /* those whose type is known */
	size_t words;
	bool has_fails;
	int64_t fails;
};

/* Adds one to the list, whose text is taken over. */
void contexts_add(struct contexts_list *list, char *text, uint8_t role, uint8_t place, uint8_t marks,
	const struct prototype_names *names);
/* Adds a value that needs no call, of an argument. */
void contexts_fix(struct contexts_list *list, const char *name, uint8_t place, uint8_t marks,
	const struct prototype_names *names, const struct values_fixed *fixed);
/* Adds a word. at: "arg2"; what is no word of the call is left out. name: lives as long as the list; NULL. */
void contexts_know(struct contexts_list *list, const char *name, const char *at, enum values_type type, uint8_t size,
	uint64_t about);

/* Is this the name of a parameter that is never recorded? */
bool contexts_secret(const struct contexts_wish *wish, const char *name);

/* The word of a type, as contexts have it: "uint32". */
const char *contexts_type(enum values_type type, uint8_t size);

/* Fills an empty list from a prototype; the words are all that are known, whatever is asked for. */
void contexts_of(struct contexts_list *list, const struct prototype *of, const struct contexts_wish *wish);
void contexts_free(struct contexts_list *list);

#endif
