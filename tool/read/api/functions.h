/* SPDX-License-Identifier: MIT */
/* Functions and objects of a trace, each once (api.h), by number. */
#ifndef XAUDIT_TOOL_READ_API_FUNCTIONS_H
#define XAUDIT_TOOL_READ_API_FUNCTIONS_H

#include "tool/read/api/api.h"

/* The function that a process calls so (read_process_function()); NULL stands for "[unknown]". NULL: no memory. */
const struct xaudit_read_function *read_api_function(
	struct xaudit_read_process *process, const struct read_function *function);

/* The object in a process; NULL stands for "[unknown]". NULL: no memory. */
const struct xaudit_read_object *read_api_object(struct xaudit_read_trace *trace, const struct read_object *object);

/* The same, with the build-id that the process has. The other one is for all of its path. */
const struct xaudit_read_object *read_api_object_exactly(
	struct xaudit_read_trace *trace, const struct read_object *object);

void read_api_free_functions(struct xaudit_read_trace *trace);

#endif
