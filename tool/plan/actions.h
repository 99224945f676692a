/* SPDX-License-Identifier: MIT */
/* The actions of a plan: what else is done where functions and probes are recorded (tool/values/action.h). */
#ifndef XAUDIT_TOOL_PLAN_ACTIONS_H
#define XAUDIT_TOOL_PLAN_ACTIONS_H

#include "tool/plan/making.h"

/*
 * Adds those that the rules which match ask for, of the function or probe of that name, of which *asked is recorded:
 * that then keeps what the conditions need. Returns the number of the first; PROBE_NONE: there are none.
 */
uint32_t actions_make(
	struct making *m, const char *name, struct values_asked *asked, const struct values_known *known);

#endif
