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

/*
 * How long the process, or, tid not 0, one of its threads, was on processors in all, in ns. Returns false if that is
 * not known; *least becomes what is known of it.
 */
bool read_sched_total(
	const struct read_sched *sched, const struct read_process *process, uint32_t tid, uint64_t *least);

/* What follows is about SCHED_SWITCHES; of other files, nothing is known of any thread. */
struct read_sched_cursor {
	uint64_t since, next; /* the thread is in the present state from `since` to `next` */
	uint64_t on;	      /* ticks that it was on processors before `since` */
	uint64_t running;     /* all ones: it is on one; 0: it is not, or that is not known */
	uint64_t unknown;     /* when the last stretch ended of which nothing is known; UINT64_MAX: in one */

	/* The rest is tool/read/sched/sched_cursor.c's. */
	const struct read_sched *sched;
	const uint8_t *at, *end;
	struct read_clock clock; /* converts */
	uint32_t conversion;
	uint32_t before, behind; /* enum sched_what: of the records around the present state; 0: there is none */
	uint64_t from, to;	 /* their times, by the file's clock */
	size_t loss;		 /* the first stretch that ends behind `from` */
	uint32_t part, parts;	 /* of the time between both records */
	struct {
		uint64_t end;
		uint32_t state;
	} piece[3];
};

/* process NULL: a cursor that knows nothing. */
void read_sched_begin(struct read_sched_cursor *cursor, const struct read_sched *sched,
	const struct read_process *process, uint32_t tid);

/* Goes on to the state at `now`. */
void read_sched_step(struct read_sched_cursor *cursor, uint64_t now);

/* How many ticks, of the process's clock, the thread was on processors before `now`, as far as that is known. */
static inline uint64_t read_sched_on(struct read_sched_cursor *cursor, uint64_t now)
{
	if (__builtin_expect(now > cursor->next, 0))
		read_sched_step(cursor, now);
	uint64_t past = now > cursor->since ? now - cursor->since : 0;
	return cursor->on + (past & cursor->running);
}

/*
 * As of the last read_sched_on(): before this time the thread's state was not known at some moment. Later ones are
 * known up to that call's.
 */
static inline uint64_t read_sched_unknown(const struct read_sched_cursor *cursor)
{
	return cursor->unknown;
}

/*
 * Time on processors of the calls of a stack, which are not the thread's alone: coroutines take turns, and threads go
 * on with calls of others. So each stack has a clock of its own, which runs while its thread is on a processor and its
 * events are on that stack (struct read_stack_calls.on). A call's time is the difference of two readings; it is not
 * known if there was an unknown moment since its start.
 *
 * The stack at hand of a thread record, between take_up and lay_down:
 */
struct read_sched_stack {
	struct read_sched_cursor cursor; /* of the record's thread */
	uint64_t base;			 /* the cursor's reading when the stack's clock was 0 */
	uint64_t taken, before;		 /* since when it is at hand; the stack's last unknown moment before */
};

static inline void read_sched_take_up(struct read_sched_stack *at, uint64_t on, uint64_t unknown, uint64_t now)
{
	at->base = read_sched_on(&at->cursor, now) - on;
	at->taken = now;
	at->before = unknown;
}

/* The stack's clock. */
static inline uint64_t read_sched_stack_on(struct read_sched_stack *at, uint64_t now)
{
	return read_sched_on(&at->cursor, now) - at->base;
}

/* As read_sched_unknown(), for the stack. */
static inline uint64_t read_sched_stack_unknown(const struct read_sched_stack *at)
{
	return at->cursor.unknown > at->taken ? at->cursor.unknown : at->before;
}

static inline void read_sched_lay_down(struct read_sched_stack *at, uint64_t *on, uint64_t *unknown, uint64_t now)
{
	*on = read_sched_stack_on(at, now);
	*unknown = read_sched_stack_unknown(at);
	*unknown = *unknown < now ? *unknown : now;
}

#endif
