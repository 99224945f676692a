/* SPDX-License-Identifier: MIT */
/*
 * Stacks and their mirrors: which range of addresses a thread runs on, and the memory that keeps its open calls (tramp.h).
 *
 * A stack is what /proc/self/maps shows as one mapping: of a thread, of a coroutine, of signal handlers. Each has its own chain
 * of open calls, so switching stacks confuses nothing, and a coroutine that goes on in another thread finds its calls. Several stacks inside one
 * mapping can't be told apart; memory that is plainly no stack (heap, files) is refused: entries only.
 *
 * The mirror is mapped in aligned pieces of 1 MiB of stack when a slot there is first met, and stays.
 *
 * All functions: process lock held (runtime/process.h), any thread, async-signal-safe. struct stack never goes away, so a
 * thread may keep its pointer; its hot part belongs to whoever runs on the stack.
 */
#ifndef XAUDIT_MIRROR_H
#define XAUDIT_MIRROR_H

#include <stdint.h>

#include "x86_64/tramp.h" /* struct tramp_stack */

struct stack {
	struct tramp_stack hot; /* first: tramp_state.stack points at it */
	struct stack *next;
	uint64_t low, high;		  /* of the mapping */
	uint64_t mapped_low, mapped_high; /* the part whose mirror is mapped; equal: none */
	uint32_t owner;			  /* tid that ran on it last */
	int refused;
};

_Static_assert(__builtin_offsetof(struct stack, hot) == 0, "tramp_state.stack points at the hot part");

/*
 * The stack that slot lies on, with its mirror mapped there; NULL when there is none to be had. Asks the kernel only for a
 * slot that no known stack covers.
 */
struct stack *mirror_stack(uint64_t slot);

/*
 * The thread that ran on the stack ends, deeper than sp nothing is in use: nobody's calls are open there, and the mirror's pages
 * go back to the kernel.
 */
void mirror_leave(struct stack *stack, uint64_t sp);

#endif
