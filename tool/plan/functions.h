/* SPDX-License-Identifier: MIT */
/* The part of a plan that is about functions; and what probes have of it, too. Private to tool/plan/. */
#ifndef XAUDIT_TOOL_PLAN_FUNCTIONS_H
#define XAUDIT_TOOL_PLAN_FUNCTIONS_H

#include "tool/plan/making.h"

/* Values of the functions that rules match. */
void making_functions(struct making *m);

/* ---- for probes, too ---- */

/*
 * What is known of a function's parameters: by the rules' prototypes, else by its debug information, else by the table.
 * What the table says more, of a function that is as it says, counts: names of flags, what failure is.
 */
void making_describe(struct making *m, size_t function, const struct contexts_wish *wish, struct contexts_list *list);

/* What the rules that match ask of arguments, together. wish: with room for all secrets. */
void making_wish(const struct making *m, struct contexts_wish *wish);

/*
 * Adds a context. item: what it is; NULL: it says so itself. Returns false: it is wrong, or too much, and *asked is as
 * before.
 */
bool making_ask(struct values_asked *asked, const char *text, const struct contexts_item *item,
	const struct values_known *known, struct values_wrong *wrong);

/* Has an earlier rule that matches asked for the same? Rules may come by several ways. */
bool making_is_asked(const struct making *m, size_t rule);

/* A rule is wrong of a function. What it names may be known of others: whether it is of none is seen at the end. */
void making_refuse(struct making *m, struct wanted_rule *rule, const struct values_wrong *wrong);

/* The conditions of the rules that match. Returns false: one can't be told, so it does not hold. */
bool making_conditions(struct making *m, struct values_asked *asked, const struct values_known *known);

struct plan_part making_part(struct pieces *to, const struct values_program *program, const struct contexts_list *of);

/* More values are asked of it than there may be; NULL: it has no name. */
void making_left_out(struct making *m, const char *name);

#endif
