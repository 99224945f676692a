/* SPDX-License-Identifier: MIT */
/*
 * The callers of a call, walked in its thread (format/chain.h).
 *
 * Code. What is known of it is a list of ranges, one for each load whose index has a table (format/frames.h): written
 * under the process lock, read by any thread without one. A range has a version, odd while it is written. A reader
 * takes the range's words between two looks at that, and does without the range where they differ: its caller goes
 * by frame pointers, or ends. Tables stay for good, so what a reader has taken serves also after the load has
 * gone.
 *
 * Memory. The thread's own stack is read directly; of other stacks the page of the call, and what lies further is
 * copied by the kernel, as of values (evaluate.h). A word that holds one of our return labels has its caller's address
 * in the mirror.
 *
 * Rules that were found are kept, in a table of the thread: a word for each, of address and rule, so that a handler
 * that comes in between leaves whole entries. All are forgotten when a range goes.
 *
 * backtrace_walk(), backtrace_readable(): the calling thread's record and stack, in any context, no lock,
 * async-signal-safe, no libc, general registers only. The others: process lock held.
 */
#ifndef XAUDIT_RUNTIME_VALUES_BACKTRACE_H
#define XAUDIT_RUNTIME_VALUES_BACKTRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/chain.h"
#include "runtime/process/thread.h"

#define BACKTRACE_RANGES 1024 /* loads, most; of others nothing is known */

/* A load, and what finds the rule of a link-time address of its code in its table. */
struct backtrace_range {
	uint64_t low, high;	      /* addresses */
	uint64_t code_low, code_high; /* outside of these there is no code */
	uint64_t base;		      /* to take from them */
	bool own;		      /* of the module itself: its frames are left out */
	const void *table;
	uint32_t (*rule)(const void *table, uint64_t address);
};

/* Returns its number, or -ENOSPC. */
int backtrace_add(const struct backtrace_range *range);
void backtrace_remove(int number);

/*
 * Where a walk begins: in the caller of a function, whose return address is at `slot`; or (pc is not 0) in the function
 * itself, which goes on at pc as its callee's return address, with its stack pointer behind the slot: that is the first
 * of the chain.
 */
struct backtrace_from {
	uint64_t slot, pc;
	uint64_t rbp;			/* the caller's, or the function's */
	uint64_t stack_low, stack_high; /* what is read directly */
	uint64_t gap; /* bytes behind the slot, before the caller's frame begins: of event sleds, its red zone */
};

/*
 * So far memory above a slot can be read for certain: of a thread's own stack all of it. What is known as another stack
 * may have a part that was a neighbour, and is unmapped since then (mirror.h); but the slot's page is there. NULL: a
 * stack of which nothing is known.
 */
uint64_t backtrace_readable(const struct stack *stack, uint64_t slot);

/*
 * Writes the chain to out: at most `most` callers and the word that ends them. Returns how many words; *key is what
 * stands for them, *told a word of the thread's for that key (recorder_words.h). 0: no memory.
 */
uint32_t backtrace_walk(struct thread *thread, const struct backtrace_from *from, uint32_t most, uint64_t *out,
	uint64_t *key, uint64_t **told);

#endif
