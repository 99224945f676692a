/* SPDX-License-Identifier: MIT */
/* Where a function returns: its instructions `ret`, those of its cold part too. Keeps nothing. */
#ifndef XAUDIT_TOOL_PROBE_RETURNS_H
#define XAUDIT_TOOL_PROBE_RETURNS_H

#include "tool/probe/finding.h"

struct image_function;

/* Adds them. Says it if the function has none, or ends by jumps to other functions, too. */
void returns_find(struct finding *to, const struct image_function *function);

#endif
