/* SPDX-License-Identifier: MIT */
/*
 * xaudit-read-frames.h: the part of xaudit-read.h, which includes it, that tells who called: the backtrace that was
 * recorded with an event, if there is one among its values (XAUDIT_READ_VALUE_STACK). What is said there holds here,
 * too.
 *
 *	const struct xaudit_read_stack *stack = xaudit_read_stack(call->entered);
 *	struct xaudit_read_symbol symbol;
 *	for (uint32_t i = 0; stack && i < stack->frames; i++)
 *		if (xaudit_read_frame_symbol(stack->frame[i], &symbol) && symbol.name)
 *			puts(symbol.name);
 */
#ifndef XAUDIT_READ_FRAMES_H
#define XAUDIT_READ_FRAMES_H

#include "xaudit-read.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of `marks`. */
enum xaudit_read_frame_mark {
	XAUDIT_READ_FRAME_EXACT = 1,	/* a signal came in at this instruction; else a call comes back to it */
	XAUDIT_READ_FRAME_BY_FRAME = 2  /* further in was code without a table: it was found by its frame pointer */
};

/* A caller: one place in the code of a trace, wherever processes have mapped it. Once per trace. */
struct xaudit_read_frame {
	const struct xaudit_read_object *object; /* NULL: nothing known is mapped there */
	uint64_t offset; /* in the object, as it was linked; without an object the address */
	uint32_t marks;
	uint32_t number; /* among the frames of the trace: 0, 1, ... */
	uint64_t reserved[2];
};

enum xaudit_read_stack_end {
	XAUDIT_READ_STACK_BOTTOM,   /* nobody called the last one */
	XAUDIT_READ_STACK_MOST,	    /* there are as many as were asked for */
	XAUDIT_READ_STACK_NO_TABLE, /* code without unwind information, which keeps no frame pointer */
	XAUDIT_READ_STACK_RULE,	    /* unwind information in a form that is not followed */
	XAUDIT_READ_STACK_MEMORY,   /* the stack can't be read */
	XAUDIT_READ_STACK_ODD	    /* unwind information that leads nowhere */
};

/*
 * A backtrace: the callers of a function, the innermost first; the function itself is not among them. Once per trace:
 * equal ones, of whatever chunks, threads and processes, have the same pointer and number. As long valid as the trace.
 */
struct xaudit_read_stack {
	uint32_t number; /* among the backtraces of the trace: 0, 1, ... in the order in which they were asked for */
	uint32_t frames;
	const struct xaudit_read_frame *const *frame;
	int end;	      /* enum xaudit_read_stack_end: why there are no more; a later version may know others */
	const char *end_text; /* the same for people, as "nobody called it" */
	uint64_t reserved[2];
};

/* The backtrace among these values; NULL: there is none, it is not known, or no memory. */
const struct xaudit_read_stack *xaudit_read_stack(const struct xaudit_read_values *values);

/*
 * Where a frame of that backtrace lay in the process that these values are of: other processes may have mapped its
 * object elsewhere. 0: there is no such frame.
 */
uint64_t xaudit_read_stack_address(const struct xaudit_read_values *values, uint32_t frame);

/* Those that were asked for so far, by number; NULL: there is none. */
uint32_t xaudit_read_stacks(const struct xaudit_read_trace *trace);
const struct xaudit_read_stack *xaudit_read_stack_numbered(const struct xaudit_read_trace *trace, uint32_t number);

/*
 * What the object's file says of a frame. It is looked at only if it has the build-id that the trace has, else it is
 * another file today; debug information is looked for as xaudit-report(1) tells of --srcline.
 */
struct xaudit_read_symbol {
	const char *name; /* of the function, as the file has it; NULL: not known */
	uint64_t start;	  /* where that begins: to compare with the frame's offset */
	const char *file; /* source file of the call; NULL: not known */
	uint32_t line;
	uint32_t reserved;
};

/* Fills in *to. Returns whether anything is known. As long valid as the trace; a file is opened once. */
int xaudit_read_frame_symbol(const struct xaudit_read_frame *frame, struct xaudit_read_symbol *to);

/*
 * The same of a probe: the function that it is in, as the trace has it, or else the object's file; file and line by the
 * file alone. Since 0.1.
 */
int xaudit_read_probe_symbol(const struct xaudit_read_probe *probe, struct xaudit_read_symbol *to);

#ifdef __cplusplus
}
#endif

#endif
