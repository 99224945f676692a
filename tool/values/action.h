/* SPDX-License-Identifier: MIT */
/*
 * What is done at a probe, or at calls of a function, besides recording it (format/plan.h):
 *
 *	WHAT WORD...	WHAT: mark, snapshot, start, stop, start thread, stop thread
 *			WORD: if CONDITION (condition.h); longer TIME; running longer TIME (of a snapshot);
 *				every N; once; at-most TIME; as NAME
 *
 * A condition goes on up to the next of these words. They say when the action is due, and leave no call out.
 *
 * Keeps nothing.
 */
#ifndef XAUDIT_TOOL_VALUES_ACTION_H
#define XAUDIT_TOOL_VALUES_ACTION_H

#include <stdbool.h>

#include "format/plan.h"
#include "tool/values/expression.h"

#define ACTION_NAME 32 /* bytes of the name of snapshots, with its NUL */

struct action {
	struct plan_action plan; /* without conditions and text; AT_END by `longer` */
	char *condition, *name;	 /* NULL: none */
};

/* Reads one. Returns false, with one line of what is wrong in *wrong, to be freed; then *to holds nothing. */
bool action_read(struct action *to, const char *text, char **wrong);
void action_free(struct action *action);

/*
 * Makes the code of its condition, and has the function, of which *asked is what is recorded, keep what the end needs.
 * Sets AT_END where the condition has a result. Returns false, and *wrong: it can't be had there.
 */
bool action_ask(struct action *action, struct values_asked *asked, struct values_asked *conditions,
	const struct values_known *known, struct values_wrong *wrong);

#endif
