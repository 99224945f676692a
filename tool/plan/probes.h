/* SPDX-License-Identifier: MIT */
/*
 * The probes of a plan: where they are (tool/probe/places.h), what is recorded there, and the windows of all of them,
 * which are planned together (tool/probe/windows.h). Private to tool/plan/.
 */
#ifndef XAUDIT_TOOL_PLAN_PROBES_H
#define XAUDIT_TOOL_PLAN_PROBES_H

#include "tool/plan/making.h"

/* Makes them, if the file has any: after the functions, since its code is analysed then. */
void making_probes(struct making *m);

#endif
