/* SPDX-License-Identifier: MIT */
/*
 * A thread that calls one recorded function over and over, and whose signal handlers do so too: each call with an id of
 * its own, so that the file must hold each exactly once and in order.
 */
#ifndef XAUDIT_T_LIB_CALLER_H
#define XAUDIT_T_LIB_CALLER_H

#include "t/lib/core.h"

#define CALLER_HANDLER (1u << 27)		 /* first id of signal handlers' calls; the program's begin at 1 */
#define CALLER_EVENTS  (CORE_HAS_MIRROR ? 2 : 1) /* of one call */

struct caller {
	struct traced function, handler;
	uint32_t tid;
	uint32_t made, handled; /* calls of the program and of handlers */
	uint32_t wrong;		/* results */
};

/* The calling thread's, for its signal handlers; NULL: they call nothing. */
extern __thread struct caller *caller_self;

/* Handlers and program make the recorder believe now and then that the clock's span has changed. */
extern volatile int caller_disturb;

/* Not thread safe. */
void caller_prepare(struct caller *caller);

/* One call with the given id; adds to *wrong when its result is not what it should be. */
void caller_call(struct traced function, uint32_t id, uint32_t *wrong);

/* Calls until `calls` were made in all and handlers made `handled`, or 4 seconds are over. */
void caller_run(struct caller *caller, uint32_t calls, uint32_t handled);

/* SIGALRM after each so many microseconds, whose handler makes three calls on the thread that it interrupts. */
void caller_start_timer(int microseconds);
void caller_stop_timer(void);

/* A row of calls as it must be in the file. */
struct caller_expected {
	uint32_t next;	  /* id */
	int open;	  /* its entry was seen */
	uint64_t strange; /* events that are not what had to follow */
};

void caller_expect(struct caller_expected *expected, const struct event *event);

#endif
