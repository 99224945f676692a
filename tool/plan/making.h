/* SPDX-License-Identifier: MIT */
/*
 * A plan while it is made. Private to tool/plan/: plan.c reads the file and joins the parts, functions.c and probes.c
 * make them. Positions count from the first byte of `pieces` until they are joined, numbers of functions in the order in
 * which they were made.
 *
 * Memory that runs out ends the command. One thread.
 */
#ifndef XAUDIT_TOOL_PLAN_MAKING_H
#define XAUDIT_TOOL_PLAN_MAKING_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

#include "format/plan.h"
#include "tool/index/image.h"
#include "tool/plan/pieces.h"
#include "tool/values/contexts.h"
#include "tool/values/debug_info.h"
#include "tool/values/variables.h"
#include "tool/values/wanted.h"

struct making {
	struct image image;
	const char *path;
	char *soname; /* or NULL */
	struct wanted wanted;
	struct prototypes *prototypes;
	unsigned own; /* as wanted_prototypes() */
	Dwfl *dwfl;
	struct debug_info *debug;
	struct variables variables;
	struct image_alias *alias; /* those of the image, by function */
	const char **resolver; /* names of IFUNCs */
	size_t resolvers;
	struct pieces pieces;
	struct plan_function *function;
	uint32_t functions;
	bool *matches; /* of each rule, the function at hand */
	const char *left_out; /* the first function that has more values than there may be */
	size_t left_outs;
	struct plan_probe *probe;
	uint32_t probes;
	struct plan_window *window;
	uint32_t windows;
	struct plan_action *action;
	uint32_t actions;
	bool wrong, said;
	bool has_malloc, relays; /* as struct values_known */
};

/* Values of the functions that rules match. */
void making_functions(struct making *m);

/* Probes, their values and their windows: after the functions, since the file's code is analysed for them. */
void making_probes(struct making *m);

/* ---- for both ---- */

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
