/* SPDX-License-Identifier: MIT */
/*
 * Stacks and their mirrors: which addresses are one stack, and the memory that keeps its open calls (tramp.h).
 *
 * A stack is found from a slot's address alone. It belongs to no thread: the thread that runs on it next goes on with
 * its open calls, so coroutines may be resumed by any thread. Known are the pages in which its slots were met: a table
 * leads from each of these to its struct stack. Two stacks may share a page; then their ranges divide it.
 *
 * If a slot lies in a page that was never met before, its stack is
 *  - the one above it, if that is near (64 KiB for the stack that the thread used last, else 16) and the pages in
 *    between can be read: no guard page is there. On a thread's own stack the distance does not matter: that one
 *    reaches up to %fs, where glibc has the thread's control block, or is the main thread's;
 *  - the one below it, on the same conditions (16 KiB);
 *  - else a new one. The kernel's list of mappings is not read for that: /proc may be missing, and it shows neighbours
 *    as one.
 * But a page is not given to a stack that another thread is on, or has open calls on, if it is not the thread's own by
 * %fs: it is a new one, too, which becomes the upper one's when its calls are over, and the thread comes up to that.
 * That may be wrong: a stack without a guard page, an array in a frame, the heap. Then an event finds open calls at
 * lower addresses than its own, which were left without notice, or are another stack's. runtime/calls/calls_stack.c
 * decides by looking whether the slot still holds our label, and parts the range by mirror_split(): the lower part
 * keeps its struct. When the lower part has no calls, and the upper one no new calls, mirror_join() joins them again.
 *
 * Gaps. A stack may lie in a frame of another one: an array, of a coroutine or a signal handler. Then the calls around
 * that frame and those below it are one stack, with one chain. The memory between them is a gap in that stack's range:
 * it belongs to other structs, which have their own chains. mirror_carve() takes a gap out, mirror_fill() puts it back.
 * A gap is a struct, too, that no page leads to; it says where the gap is, whichever stacks divide it. It begins with a
 * page, so that only its upper end shares one with the stack around it. In the lists of pages, stacks in a gap come
 * before the one around it; each leads to that by `above`. hot.low and hot.size have one piece of such a stack, without
 * a gap; a thread that comes to another piece comes to C, which sets it (mirror_set_window()).
 *
 * Which thread writes what:
 *	hot.top, depth,		the thread on the stack, and its handlers; each change is one instruction. In
 *	tailed, opener		mirror_leave(), and while stacks are parted and given back, who holds the lock; of a
 *				struct that was set aside (mirror_replace()), the thread that it was set aside for
 *	runner			a thread of the process that runs there (runtime/calls/calls.h)
 *	all else		a thread that holds the process lock
 * mirror_find() takes no lock: tables only grow, entries are stored with release, and its answer is checked against the
 * range that the struct has by then. Trampolines look at hot.low and hot.size alone, in this order: every slot in them
 * has a mirror. So low sinks before size grows, size shrinks before low rises, and a struct that is used again gets its
 * size before its low.
 *
 * Giving back. With each new stack some others are looked at (mincore: the kernel's answer needs no /proc): pages that
 * are not mapped any more, or that can't be read and have no open call, are first taken out of the table; if they are
 * still so afterwards, no thread runs there, and a thread that comes there later sees the new table (the kernel's lock
 * of the address space orders it). Then their part of the mirror is unmapped. A struct is used again two rounds later
 * at the earliest, so that a trampoline that was interrupted between the loads of low and size meets no mixture.
 *
 * Numbers. In the trace a stack has a number: that of its struct, and how often that began anew. The trace is told what
 * mirror_split() parts (TRACE_PART), but not what mirror_join() joins: the upper stack keeps its number, and the lower
 * one has no calls.
 *
 * A forked child has its parent's stacks, and goes on with the calls that are open on its own.
 *
 * All functions: any thread, async-signal-safe, no libc; process lock held (runtime/process/process.h) but for
 * mirror_find().
 */
#ifndef XAUDIT_MIRROR_H
#define XAUDIT_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86_64/tramp.h" /* struct tramp_stack */

/* Where the mirrors lie: for stacks in the last 2^43 bytes of a program's addresses, where the kernel places them. */
#define MIRROR_LOW  (MIRROR_BASE + 2 * 0x780000000000ull)
#define MIRROR_HIGH (MIRROR_BASE + 2 * 0x800000000000ull)

#define MAIN_STACK 1 /* as stack.native */

struct stack {
	struct tramp_stack hot; /* first: tramp_state.stack points at it */
	uint64_t low, high;	/* its slots, but for gaps: low ... high-1. Both 0: it has none any more */
	/* the stack of the part of the same page above high; of all of the page, if this one has nothing there */
	struct stack *above;
	const void *runner;    /* record of the thread that ran on it last; NULL: a thread that is gone */
	uint32_t depth, tailed; /* for runtime/record/filter.h: open calls; see filter_is_below() */
	/* ---- a cache line ---- */
	/* value of top when no call is open, and the outermost call's link: above all of its slots, never changed */
	uint64_t end;
	union {
		/* in the lower part of a mirror_split(), and in a gap: the innermost call above it then; else 0 */
		uint64_t parent;
		uint64_t aside; /* while it is set aside: see mirror_replace(): top at that moment */
	};
	uint64_t native; /* for a thread's own stack its %fs base; MAIN_STACK: the main thread's; 0: any other stack */
	uint32_t tid, generation; /* of runner, and of the process (runtime/base/identity.h): relaxed, too */
	uint64_t freed;		  /* round in which it was given back, or how else it has no range; 0: in use */
	uint32_t number;	  /* in the trace, no other stack's of the process. Relaxed; lock held to write */
	uint32_t asked;		  /* how often a thread came while another one was on it. Relaxed: it is for a guess */
	struct stack *gaps; /* the lowest one's struct, which leads to the next higher one by `above`; NULL: none */
	uint64_t opener; /* for filter.h: slot of the outermost call below which calls are recorded; 0: none */
} __attribute__((aligned(128))); /* two lines of one's own */

_Static_assert(__builtin_offsetof(struct stack, hot) == 0, "tramp_state.stack points at the hot part");
_Static_assert(__builtin_offsetof(struct stack, end) == 64, "a switch between stacks loads one line of each");

/* Is a call open on the stack? */
static inline bool stack_has_calls(const struct stack *stack)
{
	return stack->hot.top < stack->high;
}

/* Is the slot one of the stack's own? */
static inline bool stack_has(const struct stack *stack, uint64_t slot)
{
	return slot - stack->low < stack->high - stack->low;
}

#define MIRROR_GAPS_MOST 256 /* no walk along gaps goes on for longer */

/* Is the slot one of the stack's own, and not in a gap? */
static inline bool stack_owns(const struct stack *stack, uint64_t slot)
{
	const struct stack *gap = stack->gaps;

	for (int steps = 0; gap && gap->high <= slot && steps < MIRROR_GAPS_MOST; steps++)
		gap = gap->above;
	return stack_has(stack, slot) && !(gap && gap->low <= slot);
}

/* The stack that the slot lies on, or NULL: not known yet. No lock. */
struct stack *mirror_find(uint64_t slot);

/*
 * The stack of the slot, made or extended if need be, with a mirror for it. last: the stack that the calling thread
 * used last, or NULL; runner: its record. Returns NULL if no mirror can be made; asked again for the same MiB, it does
 * so at once.
 */
struct stack *mirror_claim(uint64_t slot, const struct stack *last, const void *runner);

/* The struct that has what this one had, if that was set aside or joined. */
static inline struct stack *stack_now(struct stack *stack)
{
	for (int steps = 0; steps < 256 && !stack->hot.size && stack->above; steps++)
		stack = stack->above;
	return stack;
}

/*
 * The thread's stack is at sp, and no memory can be mapped from now on: makes mirrors for as far as stacks usually
 * grow.
 */
void mirror_prepare(uint64_t sp);

/* Calls do_it for every stack. */
void mirror_each(void (*do_it)(struct stack *stack, void *context), void *context);

/*
 * Of the parts of the thread's own stack `stack`, and of the stacks in its frames, one that has open calls, and whose
 * last thread was `runner`; NULL: none, or it is no thread's own stack.
 */
struct stack *mirror_open_part(const struct stack *stack, const void *runner);

/* Is it the stack that libc made for the calling thread? No lock. */
bool mirror_is_own(const struct stack *stack);

/* So far the stack's memory can be read above a frame on it, on the calling thread. No lock. */
uint64_t mirror_top(const struct stack *stack);

/* Is it the calling thread's own stack, the main thread's included, and no stack in one of its frames? No lock. */
bool mirror_is_whole(const struct stack *stack);

/*
 * Can the word at this address be read? Asks the kernel by a system call that the lock needs anyway: another thread may
 * unmap the address in between.
 */
bool mirror_is_readable(uint64_t address);

/*
 * Do these four bytes hold the value? 0 where they can't be read, at whatever moment another thread unmaps them: the
 * kernel reads them, in a futex call that wakes no thread.
 */
bool mirror_holds(uint64_t address, uint32_t value);

/*
 * Sets the function that gives memory for structs of stacks: zeroed, never freed; NULL: there is none. It is called
 * with the process lock held. Before mirror_init() no stack is known. One thread, before the program runs.
 */
void mirror_init(void *(*memory)(size_t size));

/* An address on the main thread's stack. One thread, before the program runs. */
void mirror_main(uint64_t address);

/* From now on no stack has a mirror: other code uses those addresses. One thread, before the program runs. */
void mirror_forbid(void);

/* ---- for mirror_split.c ---- */

/* A struct that no thread knows, without calls and range; NULL: there is none. */
struct stack *mirror_new(void);

#endif
