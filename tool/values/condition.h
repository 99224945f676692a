/* SPDX-License-Identifier: MIT */
/* Conditions on calls, as expression.h has them. Keeps nothing. */
#ifndef XAUDIT_TOOL_VALUES_CONDITION_H
#define XAUDIT_TOOL_VALUES_CONDITION_H

#include "tool/values/expression.h"

/* Adds a condition; of several, all must hold. As values_ask(). */
bool values_ask_if(struct values_asked *asked, const char *condition, const struct values_known *known,
	struct values_wrong *wrong);

#endif
