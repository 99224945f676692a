/* SPDX-License-Identifier: MIT */
/*
 * A plan while it is made. Private to tool/plan/: plan.c reads the file and joins the parts, functions.h and probes.h
 * make them. Positions count from the first byte of `pieces` until they are joined, numbers of functions in the order
 * in which they were made.
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
	size_t from, to; /* the rules that may be of the function or probe at hand */
	bool *matches; /* of each rule, that one */
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

#endif
