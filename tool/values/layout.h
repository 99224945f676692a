/* SPDX-License-Identifier: MIT */
/* The layout of the values that code puts (format/values.h). Memory that runs out ends the command. */
#ifndef XAUDIT_TOOL_VALUES_LAYOUT_H
#define XAUDIT_TOOL_VALUES_LAYOUT_H

#include <stddef.h>

struct contexts_list;
struct values_program;

/* Returns a struct trace_layout, to be freed, and its size. of: says how the function fails. */
void *layout_make(const struct values_program *program, const struct contexts_list *of, size_t *size);

#endif
