/* SPDX-License-Identifier: MIT */
/* What `xaudit info` shows of each process, in both formats of its output. It belongs to info.c. One thread. */
#ifndef XAUDIT_TOOL_SHOW_INFO_H
#define XAUDIT_TOOL_SHOW_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/read/api/xaudit-read.h"

struct info_process {
	struct xaudit_read_process *process;
	const struct xaudit_read_process_info *info;
	const struct xaudit_read_head *head;
	const struct xaudit_read_facts *facts;
	struct xaudit_read_amounts amounts;
};

/* A whole trace. */
struct info {
	struct xaudit_read_trace *trace;
	const struct xaudit_read_trace_info *info;
	struct info_process *process; /* as many as info->processes */
	struct xaudit_read_amounts all;
	uint64_t file; /* bytes of a packed trace; 0: it is a folder */
};

/*
 * Private memory that each process of the program pays for the patched code of an object, in bytes: one page each. A
 * further process that runs the same program pays it again, unless it was forked off later.
 */
uint64_t info_private(const struct xaudit_read_process_object *object);

/* Why `record` could not help with a file, by record_error; NULL: no help was needed, or it helped. */
const char *info_record_reason(uint32_t error);

#endif
