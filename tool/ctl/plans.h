/* SPDX-License-Identifier: MIT */
/* Plans (format/plan.h) for a running process: of the files that are loaded there, by RULES. One thread. */
#ifndef XAUDIT_TOOL_CTL_PLANS_H
#define XAUDIT_TOOL_CTL_PLANS_H

#include <stdbool.h>

#include "tool/plan/plan.h"

struct ctl_indexes;
struct ctl_process;
struct object;

/* RULES by which values are recorded there now; to be freed. NULL: there are none. */
char *plans_rules(const struct ctl_process *process);

/*
 * That of an object's file, whose path it is there. Returns false if the file is not there any more, or can't be read,
 * which is said.
 */
bool plans_make(struct plan_made *made, const struct ctl_process *process, const struct object *object,
	const char *path, const char *rules);

/* Says in one line which files are loaded, but not at their paths any more: nobody knows what these have. */
void plans_say_gone(const struct ctl_process *process);

/* Those that were added to the list (tool/ctl/indexes.h), and the list. */
void plans_free(struct ctl_indexes *plans);

#endif
