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
};

struct show_colors;

/*
 * Where there are many processes, writes this in place of each of them: lines per program, how its processes ended,
 * their notes.
 */
void info_many(const struct info *info, const struct show_colors *color);

/* ---- info_sched.c: lines and members of JSON about times on processors; nothing if there is nothing of that ---- */

void info_sched(const struct info *info, const struct show_colors *color);
void info_sched_process(const struct info *info, const struct info_process *of);
void info_sched_json(const struct info *info);
void info_sched_process_json(const struct info *info, const struct info_process *of);

/* Writes all that `xaudit info` tells as one JSON object. */
void info_json(const struct info *info);

/*
 * Private memory that each process of the program pays for the patched code of an object, in bytes: one page each. A
 * further process that runs the same program pays it again, unless it was forked off later.
 */
uint64_t info_private(const struct xaudit_read_process_object *object);

/* Why `record` could not help with a file, by record_error; NULL: no help was needed, or it helped. */
const char *info_record_reason(uint32_t error);

#endif
