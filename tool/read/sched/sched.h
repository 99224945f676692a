/* SPDX-License-Identifier: MIT */
/*
 * When the threads of a trace were on processors: DIR/sched (format/sched.h).
 *
 *	sched = read_sched_open(folder)			one pass over the file
 *	read_sched_begin(&cursor, sched, process, tid)	a thread, from its beginning
 *	on = read_sched_on(&cursor, now)		ticks that it was on a processor before `now`
 *	...						`now` rises from call to call; each costs next to nothing
 *	read_sched_close(sched)
 *
 * What a thread did on processors between two moments is the difference of both. It is not known if the thread's state
 * was not known at some moment in between: if read_sched_unknown() at the second one is later than the first. So a call
 * needs no more memory than the number at its start.
 *
 * Memory: some 4 bytes per switch. The index is read only: any number of cursors, also of several threads, may be in it
 * at once; but a cursor is one thread's. The folder must stay open.
 */
#ifndef XAUDIT_TOOL_READ_SCHED_SCHED_H
#define XAUDIT_TOOL_READ_SCHED_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/sched.h"
#include "tool/read/clock.h"

struct read_folder;
struct read_process;
struct read_sched;

/* Reads the head alone. Returns false if there is none; damage is left for read_sched_open(). */
bool read_sched_peek(struct read_folder *folder, struct sched_head *head);

/* What a trace has of this. */
struct read_sched_facts {
	uint32_t holds;	   /* enum sched_holds: SCHED_NOTHING: there is no file, or nothing in it */
	uint32_t error;	   /* an errno, as in struct sched_head */
	int32_t paranoid;  /* as there */
	uint64_t switches; /* times that a thread left a processor */
	uint64_t preempted; /* of these, those that it could have gone on */
	uint64_t lost;	    /* switches that were lost, as far as their number is known */
	uint64_t losses;    /* how often some were */
	uint64_t threads;
	bool cut; /* `xaudit record` was killed: what came later is not known */
};

/*
 * Reads the file. What can't be read is noted as the folder's damage. Returns NULL if there is no such file, or, which
 * is noted too, no memory.
 */
struct read_sched *read_sched_open(struct read_folder *folder);
void read_sched_close(struct read_sched *sched); /* NULL: nothing */

const struct read_sched_facts *read_sched_facts(const struct read_sched *sched);

struct sched_thread;

/* The records of a thread (records.h); NULL: there are none. */
const struct sched_thread *sched_find(const struct read_sched *sched, uint32_t pid, uint32_t tid);

#endif
