/* SPDX-License-Identifier: MIT */
/*
 * Numbers of tracks and processes, for formats that know a track by a thread's id alone. The first track of a thread
 * has its id; others have numbers that no thread can have, above TIDS_MADE: further stacks that threads take turns on,
 * calls that do not nest with those of their thread, and threads of other hosts or namespaces that have the same id. A
 * process that begins when the one that had its id is over (it executed another program, or the id was used again)
 * shares it.
 *
 * One thread. Zeroed memory has none.
 */
#ifndef XAUDIT_TOOL_EXPORT_FOLDERS_TIDS_H
#define XAUDIT_TOOL_EXPORT_FOLDERS_TIDS_H

#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/export/format.h"

#define TIDS_MADE 10000000u /* Linux has none above 4194304 */

struct tids_one {
	uint32_t tid;
	bool process; /* the id of a process; else of a track */
	uint64_t over; /* when the process that has it is */
	const struct xaudit_read_process *owner;
};

struct tids {
	struct tids_one *one;
	uint32_t count, made;
	struct hash table;
	struct tids_process {
		const struct xaudit_read_process *process;
		uint32_t pid;
	} *process;
	uint32_t processes;
	struct hash by_process;
};

/* The number of a track, which is asked for once, in the order in which tracks are met. */
uint32_t tids_track(struct tids *tids, const struct export_track *track);

/*
 * Gives all processes of the trace their numbers. Then the second one tells that of a process, which is the tid of its
 * first thread.
 */
void tids_begin(struct tids *tids, struct xaudit_read_trace *trace);
uint32_t tids_pid(const struct tids *tids, const struct xaudit_read_process *process);

void tids_free(struct tids *tids);

#endif
