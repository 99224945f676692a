/* SPDX-License-Identifier: MIT */
/*
 * The parts of `xaudit record --sched`: context switches of all threads of the command, seen from outside
 * (format/sched.h). sched.c has the thread that runs them, and says what can't be had.
 *
 *	rings.c		the kernel's events: one per processor, inherited by all that the command starts
 *	totals.c	what threads have run, from /proc, where the kernel gives no such events
 *	file.c		DIR/sched
 *
 * All of it is used by one thread at a time: the main thread until that thread begins, and after it has ended. It ends
 * nothing if memory runs out: the command runs.
 */
#ifndef XAUDIT_TOOL_RECORD_SCHED_H
#define XAUDIT_TOOL_RECORD_SCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/sched.h"
#include "format/trace.h"

struct pollfd;

/* ---- tool/record/sched/file.c ---- */

/* fd: of the new file, which it takes over. 0, or an errno: then nothing is written. */
int sched_file_begin(int fd);

/* Writes the head again. */
void sched_file_head(const struct sched_head *head);

/* Adds a record. What can't be written is told in the file as lost, if that can be, and by sched_file_error(). */
void sched_file_put(const struct sched_record *record);

/* All before that time was put. Writes what there is. */
void sched_file_known(uint64_t time);

/* Writes record `number`, counted from 0; instead of all the above but the head. */
void sched_file_place(uint64_t number, const struct sched_record *record);

/* The last errno of writing, or 0. */
int sched_file_error(void);
void sched_file_end(void);

/* ---- tool/record/sched/rings.c ---- */

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

/* ---- tool/record/sched/totals.c ---- */

void sched_totals_begin(pid_t pid);

/* Looks at the process and its descendants. */
void sched_totals_pass(void);
void sched_totals_end(void);

#endif
