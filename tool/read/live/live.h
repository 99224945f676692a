/* SPDX-License-Identifier: MIT */
/*
 * The calls of a trace while it grows, in the order of time over all its threads and processes.
 *
 *	live = read_live_open(path, 0, &hooks, user, &error);
 *	every some ms:	processes = read_live_look(live, READ_LIVE_SLACK);
 *	read_live_close(live);
 *
 * Each look first reads the clock, then finds what is new in the files, then tells what came up to READ_LIVE_SLACK
 * before that reading: by then threads have stored it, unless one was stopped between reading the clock and storing.
 * Its event then comes later than its time says, but in its place among those of its thread.
 *
 * A process is read to its end before that is told. What it forked, or executed, is another process here, as in the
 * trace; it begins with its first look.
 *
 * What can't be read, as damage or want of memory, is left out. One thread.
 */
#ifndef XAUDIT_TOOL_READ_LIVE_LIVE_H
#define XAUDIT_TOOL_READ_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/read/api/xaudit-read.h"

struct read_live;

#define READ_LIVE_SLACK 10000000u /* ns */

/* A process of the trace. */
struct read_live_process {
	uint32_t pid, parent;
	int state;	 /* of its end: enum xaudit_read_state */
	int signal;	 /* of a crash that it was about to end by; 0: none */
	uint64_t end;	 /* ns: when its end was seen */
	uint64_t exited; /* ns: all that it did was before; 0: not known yet */
	void *user;	 /* the caller's, first NULL and 0 */
	int exits;
};

/* A thread came to a probe. */
struct read_live_probe {
	const struct xaudit_read_probe *probe;
	struct xaudit_read_call *call; /* the innermost that is open; NULL: none */
	const struct xaudit_read_values *values; /* NULL: none */
	uint32_t tid;
	uint64_t time; /* ns */
};

/*
 * What is told. Calls are as xaudit_read_next_call() has them, but: total, recursion, cpu and process are not set; all
 * times are ns on CLOCK_MONOTONIC; ticks are 0. A call and its values are valid until the hook returns that tells of
 * its end, its parent, if any, is open.
 */
struct read_live_hooks {
	void (*began)(void *user, struct read_live_process *process);
	void (*enter)(void *user, struct read_live_process *process, struct xaudit_read_call *call); /* may be NULL */
	void (*call)(void *user, struct read_live_process *process, struct xaudit_read_call *call);
	/* All of it is valid until the hook returns. May be NULL */
	void (*probe)(void *user, struct read_live_process *process, const struct read_live_probe *probe);
	/* Events that were not recorded, or whose chunks were overwritten: then count is the number of these. */
	void (*lost)(void *user, struct read_live_process *process, uint32_t tid, uint64_t count, bool chunks);
	void (*exits)(void *user, struct read_live_process *process); /* `exited` is known. May be NULL */
	void (*ended)(void *user, struct read_live_process *process);
};

/*
 * Follows the trace in the folder path, which may still be empty; or what the process of that number records, and
 * those that it forks, from now on: calls count that are open now, as far as the newest chunks tell of them. NULL, and
 * why: no memory, or there is no such trace.
 */
struct read_live *read_live_open(
	const char *path, const struct read_live_hooks *hooks, void *user, struct xaudit_read_error *error);
struct read_live *read_live_open_process(
	uint32_t pid, const struct read_live_hooks *hooks, void *user, struct xaudit_read_error *error);

/* Looks. Returns how many of the processes have not ended, as far as is known. */
unsigned read_live_look(struct read_live *live, uint64_t slack);

/* Did the last look end before all was told, since it had taken long? Then the next one need not wait. */
bool read_live_more(const struct read_live *live);

/* Tells that all processes have ended, whatever they do: what they have left open is told. */
void read_live_stop(struct read_live *live);

/* How many bytes of events, about, are in the files that no look has come to. */
uint64_t read_live_behind(struct read_live *live);

/*
 * Gives the room on the disk back that events take which were told: of a trace that nobody else is to read. When a
 * process ends, what is left of it then is given back, too.
 */
void read_live_give_back(struct read_live *live);

/* Did memory run out? Then not all was told. */
bool read_live_no_memory(const struct read_live *live);

void read_live_close(struct read_live *live);

#endif
