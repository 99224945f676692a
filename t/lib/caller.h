/* SPDX-License-Identifier: MIT */
/*
 * A thread that calls one recorded function over and over, while its signal handlers do so too. Each call has an id of
 * its own, so the file must hold each call exactly once and in order.
 */
#ifndef XAUDIT_T_LIB_CALLER_H
#define XAUDIT_T_LIB_CALLER_H

#include "t/lib/core.h"

#define CALLER_HANDLER (1u << 27)		 /* first id of handlers' calls; the program's ids begin at 1 */
#define CALLER_EVENTS  (CORE_HAS_MIRROR ? 2 : 1) /* of one call */

struct caller {
	struct traced function, handler;
	uint32_t tid;
	uint32_t made, handled; /* calls of the program and of handlers */
	uint32_t wrong;		/* results */
};

/* The caller of this thread, for its signal handlers; NULL: they call nothing. */
extern __thread struct caller *caller_self;

/* Now and then, handlers and program make the recorder believe that the clock's span has changed. */
extern volatile int caller_disturb;

/* Not thread safe. */
void caller_prepare(struct caller *caller);

/* One call with the given id; adds to *wrong when its result is not what it should be. */
void caller_call(struct traced function, uint32_t id, uint32_t *wrong);

/* Calls until `calls` were made in all and handlers made `handled`, or 40 seconds are over. */
void caller_run(struct caller *caller, uint32_t calls, uint32_t handled);

/* SIGALRM each time so many microseconds have passed; its handler makes three calls on the interrupted thread. */
void caller_start_timer(int microseconds);
void caller_stop_timer(void);

/* Calls with ascending ids, as the file must hold them. */
struct caller_expected {
	uint32_t next;	  /* id */
	int open;	  /* its entry was seen */
	uint64_t strange; /* events other than the expected ones */
};

void caller_expect(struct caller_expected *expected, const struct event *event);

#endif
