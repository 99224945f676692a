/* SPDX-License-Identifier: MIT */
/*
 * What is done at a probe, or at calls of a function, besides recording it (format/plan.h):
 *
 *	WHAT LIMIT...	WHAT: mark, snapshot, start, stop; start thread, stop thread
 *			LIMIT: once; every N; at-most TIME
 *
 * Keeps nothing.
 */
#ifndef XAUDIT_TOOL_VALUES_ACTION_H
#define XAUDIT_TOOL_VALUES_ACTION_H

#include <stdbool.h>

#include "format/plan.h"

/* Reads one; `text` of the action is left 0. Returns false, with one line of what is wrong in *wrong, to be freed. */
bool action_read(struct plan_action *to, const char *text, char **wrong);

#endif
