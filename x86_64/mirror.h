/* SPDX-License-Identifier: MIT */
/*
 * Stacks and their mirrors: which addresses are one stack, and the memory that keeps its open calls (tramp.h).
 *
 * A stack is found from a slot's address alone. It belongs to no thread: whoever runs on it next goes on with its open
 * calls, so coroutines may be resumed by any thread. What is known of it is the pages where its slots were met: a table
 * leads from each of these to its struct stack. Two stacks may share a page; then their ranges part it.
 *
 * Which stack a slot in a page lies on that was never met before:
 *  - the one above it, if that is near (64 KiB for the stack that the thread used last, else 16) and the pages in
 *    between can be read: no guard page is there. On a thread's own stack any distance will do: that one reaches up to
 *    %fs, where glibc has the thread's control block, or is the main thread's;
 *  - the one below it, likewise (16 KiB);
 *  - else a new one. No list of the kernel's is read for that: /proc may be missing, and it shows neighbours as one.
 * That may be wrong: a stack without a guard page, an array in a frame, the heap. Then an event finds open calls at
 * lower addresses than its own, which were left without a word, or are another stack's. runtime/calls.c decides by
 * looking whether the slot still holds our label, and parts the range by mirror_split(): what lies below keeps its
 * struct. Once empty, and nothing new is open above, it is joined again by mirror_join(): signal handlers on a stack
 * inside a frame come and go.
 *
 * Who writes what:
 *	hot.top, depth, below	whoever runs on the stack, and handlers on it; each change is one instruction. In
 *				mirror_leave(), and while stacks are parted and given back, whoever holds the lock
 *	runner			a thread of the process that runs there. Relaxed: it is compared only
 *	all else		whoever holds the process lock
 * mirror_find() takes no lock: tables only grow, entries are stored with release, and its answer is checked against the
 * range that the struct has by then. Trampolines look at hot.low and hot.size alone, in this order: every slot in them
 * has a mirror. So low sinks before size grows, size shrinks before low rises, and a struct that is used again gets its
 * size before its low.
 *
 * Giving back. With each new stack some others are looked at (mincore: the kernel's answer needs no /proc): pages that
 * are not mapped any more, or where no call is open and they can't be read, leave the table first; if they are still so
 * then, nobody runs there, and a thread that comes there later sees the table as it is now (the kernel's lock of the
 * address space orders it). Then their part of the mirror goes. A struct is used again two rounds later at the
 * earliest, so that a trampoline that was interrupted between the loads of low and size meets no mixture.
 *
 * Numbers. In the trace a stack has a number: that of its struct, and how often that began anew. What mirror_split()
 * parts is told there (TRACE_PART), what mirror_join() joins is not: the upper one keeps its number, and the lower one
 * has no calls.
 *
 * A forked child has its parent's stacks, and goes on with the calls that are open on its own.
 *
 * All functions: any thread, async-signal-safe, no libc; process lock held (runtime/process.h) but for mirror_find().
 */
#ifndef XAUDIT_MIRROR_H
#define XAUDIT_MIRROR_H

#include <stddef.h>
#include <stdint.h>

#include "x86_64/tramp.h" /* struct tramp_stack */

/* Where mirrors lie, of stacks in the last 2^43 bytes that a program has, as the kernel places them. */
#define MIRROR_LOW  (MIRROR_BASE + 2 * 0x780000000000ull)
#define MIRROR_HIGH (MIRROR_BASE + 2 * 0x800000000000ull)

struct stack {
	struct tramp_stack hot; /* first: tramp_state.stack points at it */
	uint64_t low, high;	/* slots of its own: low ... high-1. Both 0: none any more */
	/* what has all that lies above high in the same page, or all of it, where this one has nothing */
	struct stack *above;
	const void *runner;    /* record of the thread that ran on it last; NULL: a thread that is gone */
	uint32_t depth, below; /* runtime/filter.h's: open calls, and those of them that others are recorded below */
	/* ---- a cache line ---- */
	/* top, and what the outermost call links to, when no call is open: above all of its slots, for good */
	uint64_t end;
	uint64_t parent; /* of what mirror_split() left below: innermost call above when that was; else 0 */
	uint64_t native; /* it is a thread's own: %fs base of that; 1: of the main thread; 0: any other */
	uint32_t tid, generation; /* of runner, and of the process (runtime/identity.h): relaxed, too */
	uint64_t freed;		  /* round in which it was given back; 0: in use */
	uint32_t number;	  /* in the trace: no other stack's of the process. Relaxed; by who holds the lock */
};

_Static_assert(__builtin_offsetof(struct stack, hot) == 0, "tramp_state.stack points at the hot part");
_Static_assert(__builtin_offsetof(struct stack, end) == 64, "a switch between stacks loads one line of each");

/* Is a call open there? */
static inline int stack_has_calls(const struct stack *stack)
{
	return stack->hot.top < stack->high;
}

/* Is the slot one of the stack's own? */
static inline int stack_has(const struct stack *stack, uint64_t slot)
{
	return slot - stack->low < stack->high - stack->low;
}

/* Whose the slot is, or NULL: not known yet. No lock. */
struct stack *mirror_find(uint64_t slot);

/*
 * The same, made or extended if need be, with a mirror there. last: the stack that the calling thread used last, or
 * NULL. NULL: there is no mirror to be had; asked again for the same MiB, it says so at once.
 */
struct stack *mirror_claim(uint64_t slot, const struct stack *last);

/*
 * Parts the stack: open calls up to the one at `slot`, the outermost of them, stay with it; those outside that one and
 * all addresses from `here` on, which lies above, are another one's, who is returned. NULL: no memory; nothing has
 * changed.
 */
struct stack *mirror_split(struct stack *stack, uint64_t slot, uint64_t here);

/* Gives all that the lower one has to the upper one, if they were one, the lower one has no open calls, and the upper
 * one none that are new. */
void mirror_join(struct stack *lower, struct stack *upper);

/*
 * The thread's stack is at sp, and no memory will be to be had from now on: has mirrors for as far as stacks grow, as a
 * rule.
 */
void mirror_prepare(uint64_t sp);

/* Calls do_it for every stack. */
void mirror_each(void (*do_it)(struct stack *stack, void *context), void *context);

/*
 * The thread that ran on the stack has ended: nobody's calls are open there, nor on what else was that thread's own.
 * Whoever comes next is on another stack, of another number.
 */
void mirror_leave(struct stack *stack);

/* Is it the stack that libc made for the calling thread? No lock. */
int mirror_is_own(const struct stack *stack);

/*
 * Can the word at this address be read? Asks the kernel in a way that needs nothing but a system call that the lock
 * needs anyway: another thread may unmap what it likes in between.
 */
int mirror_is_readable(uint64_t address);

/*
 * Do these four bytes hold the value? 0 where they can't be read, at whatever moment another thread unmaps them: the
 * kernel reads them, in a futex call that wakes nobody.
 */
int mirror_holds(uint64_t address, uint32_t value);

/*
 * Where memory for structs of stacks comes from: zeroed, for good; NULL: there is none. Called with the process lock
 * held. Before that no stack is known. One thread, before the program runs.
 */
void mirror_init(void *(*memory)(size_t size));

/* An address on the main thread's stack. One thread, before the program runs. */
void mirror_main(uint64_t address);

/* From now on no stack has a mirror: somebody else has a use for those addresses. One thread, before the program
 * runs. */
void mirror_forbid(void);

#endif
