/* SPDX-License-Identifier: MIT */
/*
 * Times of one thread on processors, as its calls are followed. This is about SCHED_SWITCHES; of other files, nothing
 * is known of any thread.
 */
#ifndef XAUDIT_TOOL_READ_SCHED_SCHED_CURSOR_H
#define XAUDIT_TOOL_READ_SCHED_SCHED_CURSOR_H

#include <stdint.h>

#include "tool/read/sched/sched.h"

/*
 * How long the process, or, tid not 0, one of its threads, was on processors in all, in ns. Returns false if that is
 * not known; *least becomes what is known of it.
 */
bool read_sched_total(
	const struct read_sched *sched, const struct read_process *process, uint32_t tid, uint64_t *least);

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

/* The states of a thread, one after another: from `from` to `to`, in ticks of the process's clock. */
struct read_sched_run {
	uint64_t from, to;
	uint32_t state; /* enum read_sched_state */
};

enum read_sched_state {
	READ_SCHED_NONE, /* there is no such thread */
	READ_SCHED_ON,
	READ_SCHED_WAITS,
	READ_SCHED_READY, /* it could go on, as the kernel took its processor, or it has just begun */
	READ_SCHED_UNKNOWN
};

/*
 * The present state, and goes on to the next one. Two in a row may be equal, or have no length. Returns false when
 * nothing is known from here on. The cursor is used for nothing else.
 */
bool read_sched_next(struct read_sched_cursor *cursor, struct read_sched_run *run);

/*
 * Program images that a process executed one after another are processes of the trace, with one number: this one's time
 * begins with it, if there was one before, and ends when the next one begins. Ticks; 0 and UINT64_MAX: not so bounded.
 */
void read_sched_life(
	const struct read_folder *folder, const struct read_process *process, uint64_t *from, uint64_t *to);

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
