/* SPDX-License-Identifier: MIT */
/* Threads of a trace, by number (api.h). */
#ifndef XAUDIT_TOOL_READ_API_THREADS_H
#define XAUDIT_TOOL_READ_API_THREADS_H

#include <stdint.h>

#include "tool/read/api/api.h"

/* A thread was met; comm: as in a chunk's head. */
void read_api_thread(struct xaudit_read_process *process, uint32_t tid, const char comm[READ_API_COMM]);

/* The newest name of a thread that was met; "": it has none, or was not met. */
const char *read_api_thread_name(const struct xaudit_read_process *process, uint32_t tid);
void read_api_free_threads(struct xaudit_read_trace *trace);

#endif
