/* SPDX-License-Identifier: MIT */
/*
 * Stacks and their mirrors: which range of addresses a thread runs on, and the memory that keeps its open calls (tramp.h).
 *
 * A stack is what one thread uses of what /proc/self/maps shows as one mapping: the kernel shows neighbouring stacks without a guard page
 * between them as one (a JVM's are such). Each has its own chain of open calls, so switching stacks confuses nothing. A coroutine that goes on
 * in another thread is on another struct stack then, but its calls link to each other in the mirror all the same. Several stacks
 * of one thread inside one mapping can't be told apart; memory that is plainly no stack (heap, files) is refused: entries only.
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
	uint32_t owner;			  /* tid that runs on it; 0: nobody */
	int refused;
	uint32_t depth, below; /* runtime/filter.h's: open calls, and those of them that others are recorded below. Of whoever runs on it. */
};

_Static_assert(__builtin_offsetof(struct stack, hot) == 0, "tramp_state.stack points at the hot part");

/*
 * The stack of thread tid that slot lies on, with its mirror mapped there; NULL when there is none to be had. Asks the kernel only
 * for a slot that no known stack covers.
 */
struct stack *mirror_stack(uint64_t slot, uint32_t tid);

/* Calls do_it for every stack of thread tid. */
void mirror_each(uint32_t tid, void (*do_it)(struct stack *stack, void *context), void *context);

/*
 * The thread that ran on the stack ends: nobody's calls are open there. The mirror's pages stay: the next thread is likely to get the same
 * stack, and what else lies in the mapping may be in use.
 */
void mirror_leave(struct stack *stack);

/* From now on no stack has a mirror: somebody else has a use for those addresses. One thread, before the program
 * runs. */
void mirror_forbid(void);

#endif
