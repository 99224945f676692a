/* SPDX-License-Identifier: MIT */
/*
 * Injection: what the tracer (inject.c) and the program that it steps (t/calls/inject.c) share: a file, mapped by
 * both. The program tells where its markers are: functions that begin with int3. One of its threads is traced; a second
 * one, the helper, serves requests while the first is stopped anywhere.
 */
#ifndef XAUDIT_T_LIB_INJECT_H
#define XAUDIT_T_LIB_INJECT_H

#include <stdint.h>

/* What happens at an instruction. */
enum inject_kind {
	INJECT_NOTHING,
	INJECT_EVENT, /* a signal, whose handler makes a traced call */
	INJECT_CHUNK, /* as many such calls as it takes for the chunk to change */
	INJECT_FORK,  /* it forks, and the child goes on from there */
	INJECT_VFORK, /* the child of vfork makes a traced call */
	INJECT_JUMP,  /* it makes a traced call and leaves by siglongjmp */
	INJECT_LONG,  /* a traced call, a pause of more than 2^31 ticks, another one */
	INJECT_OTHER, /* another thread forks */
	INJECT_PAUSE, /* a pause alone, as when another process has the processor */
	INJECT_MODE,  /* as `xaudit ctl` does it: another mode */
	INJECT_TASK,  /* a task with the thread's memory and thread-local data makes a traced call, and forks */
	INJECT_KINDS
};

#define INJECT_NAMES "nothing", "event", "chunk", "fork", "vfork", "jump", "long", "other", "pause", "mode", \
		     "task"

/* Requests to the helper. */
enum inject_request { REQUEST_NONE, REQUEST_FORK, REQUEST_LOAD, REQUEST_REMOVE, REQUEST_TASK };

struct inject_shared {
	/* Futexes: a waiting thread or process looks at the value. */
	volatile uint32_t tid; /* of the thread that is to be traced; 0: none, or it was taken */
	volatile uint32_t go;  /* it is traced */
	volatile uint32_t request, answered;
	volatile int32_t answer; /* 0: the request succeeded */
	volatile uint32_t task;	 /* the task is to call; 0: it has, or was not asked */

	volatile uint32_t over;		    /* no more calls */
	volatile uint32_t stop;		    /* no more calls in this round */
	volatile uint32_t action;	    /* enum inject_kind, of the signal's handler */
	uint64_t begin, end, done, advance; /* markers */

	/* Calls that began, that ended, in handlers; rounds left by a jump. */
	volatile uint64_t begun, ended, handled, jumped;
	volatile uint64_t wrong;      /* wrong registers, results, and results of system calls */
	volatile int32_t child;	      /* the last one that was forked */
	volatile int32_t child_ended; /* its status; must be 0 */
	volatile uint32_t enough;     /* calls that fill a chunk: 4200, or 1000 after custom events */
};

#define INJECT_CHILD_CALLS 5

#endif
