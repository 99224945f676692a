/* SPDX-License-Identifier: MIT */
/*
 * The kernel's events of context switches (perf_event_open(2)): one event per processor, attached to the command before
 * it executes and inherited by all threads and processes that it starts. Each has a ring, which the kernel fills and we
 * empty; where it is full the kernel counts what it leaves out, and says so in the next event that fits.
 *
 * One thread at a time (tool/record/sched_thread.h).
 */
#ifndef XAUDIT_TOOL_RECORD_SCHED_RINGS_H
#define XAUDIT_TOOL_RECORD_SCHED_RINGS_H

#include <stdint.h>
#include <sys/types.h>

#include "format/trace.h"

struct pollfd;
struct sched_head;

/*
 * Begins to look at the process, and at all that it will start. clock: the one that times in the file shall have. Fills
 * start and processors of the head. 0, or an errno: the kernel gives no events.
 */
int sched_rings_begin(pid_t pid, enum trace_clock clock, struct sched_head *head);

/* How many files there are to poll for news; file: sets them there. */
unsigned sched_rings_files(struct pollfd *file);

/* Puts into the file what is known by now; what happened just before stays for the next call. */
void sched_rings_pass(void);

/* Puts the rest, and closes all. Does nothing if there was no sched_rings_begin(). */
void sched_rings_end(void);

/* How many switches the kernel, or want of memory, made us lose. */
uint64_t sched_rings_lost(void);

#endif
