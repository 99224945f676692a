/* SPDX-License-Identifier: MIT */
/*
 * What a process counts, and what it loses and why; also while it has no head (process.h). Any thread,
 * async-signal-safe, no libc.
 */
#ifndef XAUDIT_RUNTIME_PROCESS_PROCESS_COUNTERS_H
#define XAUDIT_RUNTIME_PROCESS_PROCESS_COUNTERS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"
#include "runtime/process/process.h"

/* Adds to a counter of process_head(), from any thread. */
void process_count(uint64_t *counter, uint64_t n);

/* Adds to the bytes of all t<n>, from any thread, and tells their sum. */
void process_count_stream(uint64_t n);
uint64_t process_stream_bytes(void);

/* process_count() for a counter of the head, if there is a head: a child that was forked a moment ago has none. */
#define PROCESS_COUNT(counter, n)                                                                                      \
	do {                                                                                                           \
		struct trace_head *head_ = process_head();                                                             \
		if (head_)                                                                                             \
			process_count(&head_->counter, n);                                                             \
	} while (0)

#define PROCESS_FULL ERANGE /* as an error: the trace has its size. No system call of ours says this */

/* Why events are lost by an error (-errno). */
enum trace_lost process_cause(long error);

/* Counts an event that is lost; also before there is a head. Any thread. */
void process_lose(enum trace_lost cause);

/* Did the process find no place for its head, a moment ago? Then this counts an event that is lost. Any thread. */
bool process_lose_refused(void);

/*
 * Takes the upper half of the place of the process's head, for a chunk or counters. Returns that place, or -ENOENT:
 * another thread has it. *backed: as pool_take_half(). Any thread.
 */
long process_take_half(bool *backed);

/* It can be taken: nothing was stored there. By process.c; or by who took it, and could not use it. */
void process_give_half(bool backed);

/* ---- for process.c ---- */

/* The process has a head from now on: what was lost before goes into it, once. */
void process_count_earlier(struct trace_head *head);

/*
 * It found no place for a head. What it loses is counted in the family's first one, until it finds a place, which it
 * looks for about once a second. Returns whether it is the first process of the family to which that happens. Lock
 * held.
 */
int process_refuse(long error);

/* Did it find no place a moment ago? */
bool process_is_refused(void);

#endif
