/* SPDX-License-Identifier: MIT */
/*
 * A trace as its readers see it, a folder or packed: processes, their meta, and the clock. The format is that of
 * format/trace.h.
 *
 * A trace may be damaged, and it may grow while it is read. So nothing in a file is believed before it is checked: all
 * that can be read is read, and the rest is remembered as damage (tool/read/damage/error.h). Files are read with pread,
 * never mapped: a file that shrinks meanwhile is a short read, not a SIGBUS.
 *
 * The layers, each of which uses only those named before it: error, clock; pack/; path, trace_file; family; process;
 * meta; names, inherited, process_load; folder. In events/, beside the last four, on process: stops; chunks, stream,
 * events, counts. On all of them: merge there, and state. On folder alone: sched/; on that, events and stacks:
 * thread_turns. decode, calls and stacks use none of them. api/, what is public, uses all.
 *
 * One thread reads a folder; different folders may be read by different threads. Nothing here is async-signal-safe.
 */
#ifndef XAUDIT_TOOL_READ_FOLDER_H
#define XAUDIT_TOOL_READ_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"
#include "tool/read/damage/error.h"
#include "tool/read/process_load.h"
#include "tool/read/trace_file.h"

struct read_folder {
	char *path;
	struct read_files files;
	struct read_files names; /* the trace folder, to look for names; not ours if it is not that of `files` */
	struct read_family **family; /* the families that have processes in it */
	unsigned families;
	struct read_process **process; /* in the order of their start */
	unsigned processes;
	char *version, *command, *status; /* from DIR/record; NULL: it has no such line */
	uint32_t command_pid;		  /* likewise; 0 */
	struct trace_pair pair[4];	  /* the clock lines of DIR/record */
	unsigned pairs;
	bool record; /* DIR/record is there */
	struct read_damage damage;
};

/*
 * Opens the trace folder `path`, or only the process in it that `path` names: the folder DIR/p<pid>[.<n>] names the
 * process that made it; a forked process has the name that people are shown (struct read_process). Reads DIR/record and
 * the heads; processes other than `pid` are left out unless pid is 0. Also sets the clocks. Returns NULL when there is
 * nothing to read, with the reason in *error. The caller frees *error in any case.
 */
struct read_folder *read_folder_open(const char *path, uint32_t pid, struct read_error *error);
void read_folder_close(struct read_folder *folder);

/*
 * Opens one process alone, without reading DIR/record; if path is a folder DIR/p<pid>, the process whose head is at
 * `place`.
 */
struct read_folder *read_folder_open_process(const char *path, uint32_t place, struct read_error *error);

/*
 * May a path that is no folder be the name of a process? True if there is such a trace; also if there is no memory to
 * find out, which opening it will tell.
 */
bool read_folder_may_be_process(const char *path);

/*
 * As read_folder_open_process(), for all processes of a folder DIR/p<pid>, by descriptors of DIR (`trace`, which must
 * stay open) and of that folder: nothing is opened by path, so it does not matter what lies there meanwhile. The path
 * is for messages, and ends with the folder's name.
 */
struct read_folder *read_folder_open_family(int trace, int family, const char *path, struct read_error *error);

#endif
