/* SPDX-License-Identifier: MIT */
/* Signals at every instruction of the trampolines: what the tracer (step.c), the program that it steps (step_program.c)
 * and that one's assembly (step_call.S) share. */
#ifndef XAUDIT_T_UNIT_STEP_H
#define XAUDIT_T_UNIT_STEP_H

#include <stdint.h>
#include <sys/types.h> /* pid_t */

#include "format/trace.h"

enum call { INTERCEPT, POINT, XRAY, XRAY_TAIL, TAIL, TAIL_POINT, LANDED, CALLS };

enum place { SAME_STACK, STACK_ABOVE, STACK_BELOW };

struct plan {
	enum call call;
	enum trace_clock clock;
	enum place place; /* of the handler's stack */
	uint64_t chunk_size;
	int cold; /* the first call is stepped too: all is made in the middle of it */
	int fill; /* the first chunk is full when the call comes */
};

/* Between tracer and program. */
struct shared {
	pid_t pid;
	volatile uint32_t go;	 /* another call? */
	volatile uint32_t cross; /* handlers go on until they are in the next chunk */
	volatile uint32_t mark;	 /* handlers tell the tracer when they are done */
	volatile uint32_t made, handled;
	volatile uint32_t wrong, wrong_register;
	volatile uint32_t spoilt; /* bytes behind the first chunk */
	volatile int unusable;	  /* the chunk's place does not suit the test */
	uint64_t top_before, top_after;
};

/* Set before the program is forked; `shared` is memory of both. */
extern struct shared *step_shared;
extern const struct plan *step_plan;

/* The program's life: asks to be traced, stops, makes calls while the tracer wants some. Exits. */
void step_program(void) __attribute__((noreturn));

/* Its handler of SIGUSR1. */
void step_on_signal(int signal);

/* ---- step_call.S ---- */

/* Calls step_target with step_before in the registers; what comes back goes to step_after. */
void step_call(void);

/* Where the program tells the tracer (int3) that a call begins, that it is over, and that a handler is done. */
extern const char step_begin[], step_end[], step_handled[];

/* All of the assembly. */
extern const char step_code_start[], step_code_end[];

#endif
