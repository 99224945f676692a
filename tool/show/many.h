/* SPDX-License-Identifier: MIT */
/*
 * The traces of a command that takes several. One that is given twice, or is a part of another one, is counted once: a
 * line on stderr says so. One thread; the traces are the command's to read.
 */
#ifndef XAUDIT_TOOL_SHOW_MANY_H
#define XAUDIT_TOOL_SHOW_MANY_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/read/api/xaudit-read.h"

struct many {
	const char **folder; /* as they were given */
	struct xaudit_read_trace **trace; /* NULL, and NULL in it: not opened */
	uint32_t traces;
};

/* Opens all of them. pid: 0: all processes. Returns false after one line on stderr. */
bool many_open(struct many *many, uint32_t pid);

/* Have all of them context switches? */
bool many_have_sched(const struct many *many);

/* Leaves out what would be counted twice; of two that are the same the first one stays. */
void many_leave_out_twins(const char *command, struct many *many);

/* Leaves nothing out, but says so if two are the same, of which a difference is asked for. */
void many_say_twins(const char *command, const struct many *many);

/*
 * Reports damage and closes them, as show_end_trace(), and frees the lists. status: that of the command so far. Returns
 * the exit status.
 */
int many_close(struct many *many, int status);

#endif
