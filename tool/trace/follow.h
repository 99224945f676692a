/* SPDX-License-Identifier: MIT */
/*
 * Follows a trace while it is recorded, and prints its calls as they end. A thread looks at the trace every LOOK_MS and
 * makes lines (line.h); another one writes them (output.h). The program waits for neither: what it records is in files.
 *
 * What can't be printed at once, since the program is faster or the reader of the lines is slow, waits in the files: up
 * to follow_options.behind bytes of events. Of what is beyond that, calls are read and counted, but no lines are made,
 * until half of it is left; a line then tells how many were left out. So what is late is bounded, and so is the room on
 * the disk: what was read is given back, unless the trace is kept.
 *
 * The main thread begins it, tells when the command has ended, and waits; meanwhile all else here belongs to the
 * thread.
 */
#ifndef XAUDIT_TOOL_TRACE_FOLLOW_H
#define XAUDIT_TOOL_TRACE_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/trace/line.h"

/* Bytes of events: what nobody can read as fast as it comes shall at least be of now. */
#define FOLLOW_BEHIND_TERMINAL (64ull << 20)
#define FOLLOW_BEHIND	       (1ull << 30)

struct follow_options {
	struct line_options line;
	int fd;		      /* where lines go */
	bool lines, table;    /* which of the two is printed */
	bool failed, good;    /* only calls that failed; only those that did not */
	bool quiet;	      /* nothing about how processes end */
	uint64_t behind;      /* bytes of events; 0: as the descriptor is a terminal or not */
	bool keep;	      /* the trace is kept */
	uint32_t pid;	      /* follow this process; 0: a folder */
};

/*
 * Begins. folder: of a trace that begins; NULL: options->pid. Returns false after a line on stderr.
 */
bool follow_begin(const struct follow_options *options, const char *folder);

/*
 * The command, whose status is as of waitpid, has ended; pid 0: it did not run, or there is none. Waits until all that
 * processes of the trace do was printed, or a signal tells to end: returns that, or 0.
 */
int follow_end(int pid, int status);

#endif
