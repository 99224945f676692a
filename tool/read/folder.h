/* SPDX-License-Identifier: MIT */
/*
 * A trace folder as its readers see it: processes, their meta, and the clock. The format is format/trace.h.
 *
 * A trace may be damaged, and it may grow while it is read. So nothing in a file is believed before it is checked:
 * whatever can be read is read, and the rest is remembered as damage (tool/read/error.h). Files are read with pread,
 * never mapped: a file that shrinks meanwhile is a short read, not a SIGBUS.
 *
 * The layers, each of which knows those before it alone: error, clock; file; family; process; meta; names, base, load;
 * folder. Besides, on process: chunks, stream, events, counts; on all: merge, state. decode, calls and stacks know none
 * of them.
 *
 * Whoever reads a folder is one thread; different folders may be read by different threads. Nothing here is
 * async-signal-safe.
 */
#ifndef XAUDIT_TOOL_READ_FOLDER_H
#define XAUDIT_TOOL_READ_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"
#include "tool/read/error.h"
#include "tool/read/file.h"
#include "tool/read/load.h"

struct read_folder {
	char *path;
	struct read_files files;
	struct read_family **family; /* that have processes in it */
	unsigned families;
	struct read_process **process; /* in the order of their start */
	unsigned processes;
	char *version, *command, *status; /* from DIR/record; NULL: not there */
	struct trace_pair pair[4];	  /* the clock lines of DIR/record */
	unsigned pairs;
	bool record; /* DIR/record is there */
	struct read_damage damage;
};

/*
 * Opens the trace folder `path`, or of it the one process that `path` names: DIR/p<pid>[.<n>], a folder, for the
 * process that made it, or a name that people are shown of a forked process (struct read_process). Reads DIR/record and
 * the heads; processes other than `pid` are left out unless pid is 0. Also sets the clocks. Returns NULL when there is
 * nothing to read, and why: *error is to be freed in any case.
 */
struct read_folder *read_folder_open(const char *path, uint32_t pid, struct read_error *error);
void read_folder_close(struct read_folder *folder);

/*
 * The same of one process alone, without what DIR/record says; of a folder DIR/p<pid> the process whose head is at
 * `place`.
 */
struct read_folder *read_folder_open_process(const char *path, uint32_t place, struct read_error *error);

/*
 * Whether a path that is no folder may be the name of a process: there is such a trace, or no memory to find out, which
 * opening it will say.
 */
bool read_folder_may_be_process(const char *path);

/* The same of all processes of a folder DIR/p<pid>. */
struct read_folder *read_folder_open_family(const char *path, struct read_error *error);

#endif
