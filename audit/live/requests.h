/* SPDX-License-Identifier: MIT */
/*
 * What was asked for while the process runs: rules to switch functions on or off, in order of time; the last rule that
 * matches a function counts, also for objects that are loaded later. And names of functions.
 *
 * Lock: process lock held for requests_remember(), requests_selects(), and all about names. Stopped threads come here
 * (runtime/control.h): general registers only, no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_REQUESTS_H
#define XAUDIT_AUDIT_LIVE_REQUESTS_H

#include <stdbool.h>

#include "audit/model/object.h"

struct control_request;

#define REQUESTS_ALL_KINDS ((1u << TRACE_KIND_COUNT) - 1)

/* [KIND:]FUNCGLOB[@LIBGLOB], taken apart. */
struct requests_rule {
	unsigned kinds; /* mask; all when none is named */
	const char *function, *library; /* library NULL: any */
};

/*
 * Takes a rule apart, in place. KIND may be several, joined by commas. Returns 0, or -EINVAL: no function, or a word
 * before a colon that is no kind (a glob that begins with a name and two colons is a function's as a whole). Pure.
 */
int requests_parse(struct requests_rule *rule, char *text);

/* Does the rule name the function of this object? Pure. */
bool requests_matches(const struct requests_rule *rule, const struct object *object, int kind, const char *function);

/* Is the object of the library that the rule names? Pure. */
bool requests_concerns(const struct requests_rule *rule, const struct object *object);

/*
 * Puts the rule at the list's end; a rule that is in the list already moves there, so a program that repeats its
 * requests for ever needs no more memory. Returns 0 or -ENOMEM.
 */
int requests_remember(int on, const struct requests_rule *rule);

/* Goes through the list, oldest first: *at is NULL at first. Returns NULL at the end; else *on: what was asked. */
const struct requests_rule *requests_each(const void **at, int *on);

/* Was a kind asked for by its name, of functions of this object, and not taken back by `*`? For objects to come. */
int requests_ask_for(const struct object *object, unsigned kind);

/*
 * Is the function of this object to be on, by what was asked since the start? by_rules: the answer where nothing was
 * asked.
 */
int requests_selects(const struct object *object, int kind, const char *function, int by_rules);

/*
 * Names that functions have in the trace, in place of their symbols': those that were given while the process runs, the
 * newest first, then those of the rules. Here are they, as xaudit_control shows them; at first the rules'. la_version.
 */
struct rules_name *const *requests_names_place(const struct rules *rules);

/* Are there any? */
bool requests_have_names(void);

/* That of a function of this symbol; NULL: it has none of its own. */
const char *requests_name_of(const struct object *object, const char *symbol);

/* What CONTROL_NAMES asks for. Returns 0 or -errno. */
int requests_take_names(struct control_request *request);

#endif
