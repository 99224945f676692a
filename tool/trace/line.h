/* SPDX-License-Identifier: MIT */
/*
 * The lines that `xaudit trace` prints: of calls, and of how processes end. They are made in a buffer that is used
 * again. The traced program may have made names and values of any bytes: all is harmless on a terminal.
 *
 * Where memory runs out a line is cut: the command runs, and must not end with us. One thread.
 */
#ifndef XAUDIT_TOOL_TRACE_LINE_H
#define XAUDIT_TOOL_TRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/read/live/live.h"

/* What stands in front of a line. */
enum line_time { LINE_NO_TIME, LINE_SECONDS, LINE_MICROSECONDS, LINE_EPOCH };

struct line_options {
	int time;	   /* enum line_time: when the call began */
	bool relative;	   /* how long after the call of the line before */
	bool duration;	   /* behind the line */
	bool nested;	   /* indented; a line where a call begins in which others are shown */
	bool descriptors;  /* with what they are */
	bool callers;	   /* lines below a call, as its backtrace tells */
	bool file;	   /* each line has a pid, as many files of strace have */
	uint32_t text;	   /* bytes of a text that are shown */
};

struct line {
	struct line_options options;
	char *text;
	size_t size, room;
	bool many;     /* there was more than one thread: lines tell whose they are */
	uint64_t last; /* when the call of the line before began; 0: there was none */
	int64_t real;  /* ns that CLOCK_REALTIME is ahead of CLOCK_MONOTONIC */
};

enum line_part { LINE_WHOLE, LINE_BEGIN, LINE_END };

/*
 * Makes the line of a call, with those of its callers below; or where others are shown in it, its first or its last
 * one.
 */
void line_call(struct line *line, struct read_live_process *process, const struct xaudit_read_call *call,
	enum line_part part);

/* The line of a thread that came to a probe: NAME(values), with those of its callers below. */
void line_probe(struct line *line, const struct read_live_probe *probe);

/* A line that begins as those of calls do, of the thread: "+++ exited with 0 +++". time: ns. */
void line_say(struct line *line, uint32_t tid, uint64_t time, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

void line_free(struct line *line);

#endif
