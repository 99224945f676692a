/* SPDX-License-Identifier: MIT */
/*
 * Signals at every instruction of the trampolines: shared by the tracer (step.c), the program that it steps
 * (step_program.c) and the program's assembly (step_call.S).
 */
#ifndef XAUDIT_T_UNIT_STEP_H
#define XAUDIT_T_UNIT_STEP_H

#include <stdint.h>
#include <sys/types.h> /* pid_t */

#include "format/trace.h"

enum call {
	INTERCEPT, POINT, XRAY, XRAY_TAIL, TAIL, TAIL_POINT, TAIL_CALLER, LANDED, PROBE,
	/*
	 * With values: of registers, as they are; that C finds; of an XRay function; of a tail call, in both functions;
	 * of a call that its result leaves out; of a probe: of registers, of two
	 * whole ones, and that C finds; of two probes at one instruction, the second one's.
	 */
	VALUES, VALUES_FOUND, VALUES_XRAY, VALUES_TAIL, VALUES_LEFT_OUT, PROBE_VALUES, PROBE_REGISTERS, PROBE_FOUND,
	PROBE_TWO, CALLS
};

enum place { SAME_STACK, STACK_ABOVE, STACK_BELOW };

struct plan {
	enum call call;
	enum trace_clock clock;
	enum place place; /* where the handler's stack is */
	uint64_t chunk_size;
	int coarse;
	int cold; /* the first call is stepped too: everything is set up in the middle of it */
	int fill; /* the first chunk is full when the call comes */
	int jumps; /* the handler jumps away, behind the call */
	int forks; /* the handler makes no calls: it forks, and its child is first to end the call */
};

/* Shared by tracer and program. */
struct shared {
	pid_t pid;
	volatile uint32_t go;	 /* make another call? */
	volatile uint32_t cross; /* handlers go on until so many chunks have begun */
	volatile uint32_t mark;	 /* handlers tell the tracer when they are done */
	volatile uint32_t made, handled, jumped;
	volatile uint32_t wrong, wrong_register;
	volatile uint32_t spoilt; /* overwritten bytes after the first chunk */
	volatile int unusable;	  /* the chunk's place is unfit for the test */
	uint64_t top_before, top_after;
	uint64_t stubs, stubs_end; /* of probes */
};

/* Set before the program is forked; it points to shared memory. */
extern struct shared *step_shared;
extern const struct plan *step_plan;

/* Runs the program: it asks to be traced, stops, makes calls as long as the tracer wants more, and exits. */
void step_program(void) __attribute__((noreturn));

/* Its handler of SIGUSR1. */
void step_on_signal(int signal);

/* ---- step_call.S ---- */

/* Calls step_target with step_before in the registers; stores the registers after the call in step_after. */
void step_call(void);

/* Where the program tells the tracer (int3) that a call begins, that it is over, and that a handler is done. */
extern const char step_begin[], step_end[], step_handled[];

/* Start and end of the assembly. */
extern const char step_code_start[], step_code_end[];

#endif
