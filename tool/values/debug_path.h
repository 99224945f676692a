/* SPDX-License-Identifier: MIT */
/* From a pointer to members of what it points to: ->next.list[3]. Keeps nothing. */
#ifndef XAUDIT_TOOL_VALUES_DEBUG_PATH_H
#define XAUDIT_TOOL_VALUES_DEBUG_PATH_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

struct values_path;
struct values_wrong;

/* from: the type of the word. As values_follow() of expression.h. */
bool debug_path(Dwarf_Die *from, const char *text, size_t length, struct values_path *path,
	struct values_wrong *wrong);

#endif
