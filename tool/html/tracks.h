/* SPDX-License-Identifier: MIT */
/*
 * The tracks of the timeline: the stacks of calls, of which a thread has one, or several that it takes turns with. A
 * track has a row for each depth of its calls; one more if calls overlap there, as of stacks that were moved; and one
 * for when its thread was on a processor. Rows of calls are bounded: each track has its outermost ones first, and those
 * with the most calls have more.
 *
 * One thread. When memory runs out, the command ends.
 */
#ifndef XAUDIT_TOOL_HTML_TRACKS_H
#define XAUDIT_TOOL_HTML_TRACKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/base/hash.h"
#include "tool/html/counts.h"
#include "tool/read/api/xaudit-read.h"

#define TRACKS_NONE   UINT32_MAX
#define TRACK_COLUMNS 1024 /* in which calls of a track are counted */

struct track {
	struct xaudit_read_process *process;
	uint32_t number; /* of the process */
	uint32_t tid, stack;
	char name[17];
	uint64_t calls, time; /* of the outermost calls */
	uint64_t first, last; /* ns after the start of the trace */
	struct track_depth {
		uint64_t calls;
		uint64_t last; /* the end of the last one */
	} *depth;
	uint32_t depths, room;
	uint64_t overlaps; /* calls that began before the one before them at their depth ended */
	uint64_t loose_last; /* in a later pass: the end of the last such call that is shown */
	struct counts counts;
	/* page_tracks_choose(): numbers of rows; TRACKS_NONE: it has no such row */
	uint32_t place; /* in the page */
	uint32_t row, rows, loose, cpu;
};

enum row_kind { ROW_CALLS, ROW_LOOSE, ROW_CPU, ROW_REST };

struct row {
	uint32_t track; /* place */
	uint32_t depth;
	enum row_kind kind;
	uint32_t levels; /* of the pyramid */
	uint64_t calls;
};

struct tracks {
	struct xaudit_read_trace *trace; /* set by the caller; all else is 0 */
	struct track **track; /* in the order in which they were met; page_tracks_choose() sorts them */
	uint32_t count;
	struct hash by_key;
	struct track *recent;
	uint32_t process; /* the number that was looked for last */
	/* page_tracks_choose() */
	uint32_t shown; /* those with rows come first */
	struct row *row;
	uint32_t rows;
	uint32_t rest; /* the row of those without; TRACKS_NONE */
};

/* The track of a call. The second one: NULL if there is none. Valid until page_tracks_close(). */
struct track *page_tracks_of(struct tracks *tracks, const struct xaudit_read_call *call);
struct track *page_tracks_find(
	const struct tracks *tracks, const struct xaudit_read_process *process, uint32_t tid, uint32_t stack);

/* Counts a call that is over: from `from` to `to`, ns after the start of the trace. Returns whether it overlaps. */
bool track_count(struct track *track, uint32_t depth, uint64_t from, uint64_t to);

/* The same without counting, in a later pass over the same calls, which page_tracks_again() begins. */
bool track_overlaps(struct track *track, uint32_t depth, uint64_t from, uint64_t to);
void page_tracks_again(struct tracks *tracks);

/* When all calls were counted: at most so many rows of calls. cpu: threads have rows for processors. */
void page_tracks_choose(struct tracks *tracks, uint32_t most, bool cpu);

/* Members of the head. */
void page_tracks_write(const struct tracks *tracks, FILE *to);
void page_tracks_close(struct tracks *tracks);

#endif
