/* SPDX-License-Identifier: MIT */
/*
 * Reading a process's thread files as they grow: what was called since the last look, for `xaudit ctl PID top`.
 *
 * The first look goes to the end of the files, so numbers are those of the time that is watched. Each look reads on
 * from there, in all three kinds of files. If a thread writes faster than we read, we see only a sample of the newest
 * events, and `scale` tells how much more there was.
 *
 * Self time is taken from the time line: between two events of a thread, the innermost open call runs. So it is right
 * for calls that last for many looks, too.
 */
#ifndef XAUDIT_TOOL_CTL_TOP_READ_H
#define XAUDIT_TOOL_CTL_TOP_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/read/folder.h"

struct top_row {
	uint64_t calls;	  /* by events */
	uint64_t counted; /* by counters */
	uint64_t self;	  /* ticks */
};

struct read_stacks;
struct top_thread;

struct top {
	struct read_folder *folder;
	struct read_process *process;
	bool live;		   /* the clock can be read here: what runs now is shown, not only what ended */
	struct top_row *row;	   /* by index of the function in the process */
	uint32_t rows;
	struct read_stacks *stacks;	   /* of the process */
	struct top_thread *thread; /* by number of the record */
	unsigned threads;
	uint32_t changes;	   /* of the process that were seen */
	/* Since the last look: */
	uint64_t events, counted;
	uint64_t skipped; /* chunks that were not read */
	uint64_t words, words_skipped;
	double scale; /* factor for events, calls and self times, since only a part was read; 1: all was */
	uint64_t lost;	  /* events, since the first look */
	uint64_t lost_before;
};

/* Begins at the end of the files. live: the process runs on this machine. */
void top_open(struct top *top, struct read_folder *folder, bool live);

/* Clears the rows and reads what came since the last look, for at most that many ns. */
void top_look(struct top *top, uint64_t ns);

void top_close(struct top *top);

#endif
