/* SPDX-License-Identifier: MIT */
/* Opening and closing a trace, and its processes (api.h). */
#ifndef XAUDIT_TOOL_READ_API_TRACE_H
#define XAUDIT_TOOL_READ_API_TRACE_H

#include <stddef.h>

#include "tool/read/api/api.h"

/* The records of a process are needed from here on, and no more. Uses may overlap. */
void read_api_take(struct xaudit_read_process *process);
void read_api_leave(struct xaudit_read_process *process);

/* Fills in *error, unless NULL. */
void read_api_error(struct xaudit_read_error *error, enum xaudit_read_why why, const char *text);

/*
 * The value of a field of options that a caller has made, whose `size` comes first: 0 if there are no options, or if
 * they come from a time when there was no such field.
 */
#define READ_API_OPTION(options, field)                                                                              \
	((options) && (options)->size >= offsetof(__typeof__(*(options)), field) + sizeof((options)->field) ?        \
			(options)->field :                                                                           \
			0)

/*
 * A caller that did not set the size of its options would get what none ask for, and plausible numbers. Then they are
 * refused: this is why.
 */
#define READ_API_NO_SIZE(options) ((options) && !(options)->size ? "the options have no size" : NULL)

#endif
