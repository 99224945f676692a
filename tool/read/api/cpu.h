/* SPDX-License-Identifier: MIT */
/* Times on processors: what a trace has of them, and of a process in all. */
#ifndef XAUDIT_TOOL_READ_API_CPU_H
#define XAUDIT_TOOL_READ_API_CPU_H

#include "tool/read/api/api.h"

/*
 * When threads were on processors; NULL: no switches were recorded, or there is no memory. The first call reads the
 * file, so that must be done before several threads ask.
 */
struct read_sched *read_api_sched(struct xaudit_read_trace *trace);

/* The same, whatever the file holds; NULL: there is none. */
struct read_sched *read_api_sched_file(struct xaudit_read_trace *trace);

#endif
