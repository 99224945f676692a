/* SPDX-License-Identifier: MIT */
#include "runtime/calls/cyg_calls.h"

#include <stdbool.h>

#include "runtime/calls/calls_ends.h"
#include "runtime/calls/calls_owner.h"
#include "runtime/calls/calls_stack.h"
#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "runtime/process/process_counters.h"
#include "runtime/record/dispatch.h"
#include "runtime/record/filter.h"
#include "runtime/record/recorder.h"
#include "x86_64/cpu.h"

/*
 * Bytes of the frame in which the return address is looked for: of a larger one, as with a coroutine's stack in it, up
 * to the call around it, for such a frame is not entered often.
 */
#define FRAME_LOOKED 1024
#define FRAME_MOST   (256ul << 10)

/*
 * As COUNT does it (x86_64/tramp_pieces.h): a child that a handler forks in between finds the thread's record wiped,
 * and must not add to a counter at 0. One that is forked after the last comparison adds to its parent's.
 */
static void count(uint32_t id)
{
	for (;;) {
		const struct tramp_state *hot = tramp_self;
		/* Relaxed, all three, and fences for the compiler alone: only handlers on this thread are partners. */
		uint64_t counts = hot ? __atomic_load_n(&hot->counts, __ATOMIC_RELAXED) : 0; /* as said */
		__atomic_signal_fence(__ATOMIC_SEQ_CST); /* as said */
		uint32_t limit = hot ? __atomic_load_n(&hot->count_limit, __ATOMIC_RELAXED) : 0; /* as said */
		__atomic_signal_fence(__ATOMIC_SEQ_CST); /* as said */
		if (id < limit) {
			if (__atomic_load_n(&hot->counts, __ATOMIC_RELAXED) != counts) /* as said */
				continue;
			cpu_add_one((uint64_t *)(uintptr_t)counts + id, 1);
			return;
		}
		if (tramp_slow_count(id) == TRAMP_PASS)
			return;
	}
}

/* calls_own_stack(), which as a rule is the stack that was used last. */
static struct stack *own_stack(struct thread **thread, uint64_t slot)
{
	struct stack *stack = (struct stack *)((*thread = thread_self()) ? (*thread)->hot.stack : NULL);

	return stack && slot - stack->hot.low < stack->hot.size ? stack : calls_own_stack(thread, slot);
}

/* Where the frame's call is kept; see cyg_calls.h. Slots lie at 8 modulo 16, so this word is no call's slot. */
static uint64_t place_of(const struct stack *stack, uint64_t returns, uint64_t slot)
{
	uint64_t at = (slot + 16) | 8, end = slot + FRAME_MOST, outer = stack->hot.top;

	if (outer < slot + FRAME_LOOKED)
		outer = slot + FRAME_LOOKED;
	if (end > outer)
		end = outer;
	if (end > mirror_top(stack))
		end = mirror_top(stack);
	for (; at + 8 <= end; at += 16)
		if (*(const uint64_t *)(uintptr_t)at == returns)
			return at - 8;
	return slot + 8;
}

/*
 * The frame goes on in a page that was not known to be the stack's, as where the slot is a page's last word; or beyond
 * a gap that was in an earlier one. Returns whether the place is the stack's now.
 */
static int grow_to(struct stack *stack, uint64_t at)
{
	struct process_held held;
	struct thread *thread;

	if (!mirror_find(at)) {
		process_lock(&held);
		mirror_claim(at, stack, thread_self());
		process_unlock(&held);
	}
	if (mirror_find(at) == stack)
		calls_own_stack(&thread, at);
	return at - stack->hot.low < stack->hot.size;
}

/* Is the chain's entry there one of ours, for a frame that returns to this address? */
static bool is_of(uint64_t at, uint64_t returns)
{
	uint64_t address = mirror_entry(at)->address;

	return address & CYG_CALL_MARK && (address & CYG_CALL_ADDRESS) == (returns & CYG_CALL_ADDRESS);
}

/* The bits of the place that tells, whose return address lies in the slot. */
static uint64_t from(uint64_t slot)
{
	uint64_t place = *(const uint64_t *)(uintptr_t)slot;

	return (place ^ place >> 8) << 47 & CYG_CALL_FROM;
}

/* Is the call that tells in this frame a part of what is open there: one that was inlined? */
static bool is_inlined(uint64_t at, uint32_t id, uint64_t slot)
{
	const struct mirror_entry *entry = mirror_entry(at);

	return (entry->word & TRACE_ID_MASK) != id || (entry->address & CYG_CALL_FROM) != from(slot);
}

static uint64_t outer_of(uint64_t at)
{
	return at + 8ull * mirror_entry(at)->link;
}

/* The call's entry in the chain; or one more inlined call in that of its frame. */
static void open_call(struct stack *stack, uint32_t id, uint64_t returns, uint64_t at, uint64_t slot, int inlined)
{
	struct mirror_entry *entry = mirror_entry(at);

	if (inlined) {
		if ((entry->address & CYG_CALL_INLINED_ALL) != CYG_CALL_INLINED_ALL)
			entry->address += CYG_CALL_INLINED;
		return;
	}
	entry->address = (returns & CYG_CALL_ADDRESS) | from(slot) | CYG_CALL_MARK;
	entry->word = TRACE_WORD(TRACE_ENTRY, id);
	entry->link = (uint32_t)((stack->hot.top - at) / 8);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread: a handler finds the entry whole */
	stack->hot.top = at;
}

/* Without a chain no end could be found: an entry-only event. */
static void enter_alone(struct thread *thread, uint32_t id, uint64_t slot)
{
	enum thread_caller caller = thread_caller(thread, slot);

	if (caller == THREAD_STRANGER) {
		process_lose(TRACE_LOST_STRANGER);
		return;
	}
	if (caller == THREAD_OWN)
		PROCESS_COUNT(no_mirror, 1);
	recorder_write(thread, NULL, TRACE_WORD(TRACE_POINT, id));
}

void cyg_calls_enter(uint32_t id, uint64_t returns, uint64_t slot)
{
	enum dispatch_set set = dispatch_now();
	/* Relaxed, both: threads see changes soon enough. */
	uint32_t checks = __atomic_load_n(&tramp_checks, __ATOMIC_RELAXED);
	struct thread *thread;

	if (set == DISPATCH_IDLE || set == DISPATCH_WATCH)
		return;
	if (set == DISPATCH_COUNT ||
		(checks & TRAMP_CHECK_COUNTED && id < TRAMP_TABLE_IDS &&
			__atomic_load_n(&tramp_table[id], __ATOMIC_RELAXED) & TRAMP_ONLY_COUNTED)) { /* as above */
		count(id);
		return;
	}
	struct stack *stack = own_stack(&thread, slot);
	if (!thread || thread_is_muted(thread))
		return;
	if (!stack) {
		enter_alone(thread, id, slot);
		return;
	}
	/* What is open below our caller's frame was left. */
	if (stack->hot.top <= slot)
		stack = calls_settle(thread, stack, slot);
	uint64_t at = place_of(stack, returns, slot);
	if (at - stack->hot.low >= stack->hot.size && grow_to(stack, at))
		at = place_of(stack, returns, slot);
	uint64_t top = stack->hot.top;
	int inlined = top <= at && is_of(top, returns) && is_inlined(top, id, slot);
	if (inlined) {
		at = top;
	} else {
		if (top <= at)
			stack = calls_settle(thread, stack, at);
		if (stack->hot.top == at + 8 && !calls_is_intercepted(at + 8))
			calls_unwind(thread, stack, at + 8);
	}
	/* The mirror may end before the frame does, where the stack was parted. */
	if (at - stack->hot.low >= stack->hot.size || stack->hot.top < at) {
		enter_alone(thread, id, slot);
		return;
	}
	if (checks & TRAMP_CHECK_FILTERS) {
		if (!filter_admits(stack, at, id))
			return;
		stack->depth++;
		filter_opened(stack, at, id);
	}
	open_call(stack, id, returns, at, slot, inlined);
	recorder_write(thread, stack, TRACE_WORD(TRACE_ENTRY, id));
}

/*
 * The entry of the frame that the function is in, from the innermost one outwards; 0: its call is not open. The first
 * that is neither below the caller's frame nor the function's belongs to a frame further out.
 */
static uint64_t find_open(const struct stack *stack, uint32_t id, uint64_t returns, uint64_t slot, int is_on)
{
	uint64_t at = stack->hot.top;

	while (stack_has(stack, at)) {
		const struct mirror_entry *entry = mirror_entry(at);
		if (is_of(at, returns) &&
			((entry->word & TRACE_ID_MASK) == id || (is_on && entry->address & CYG_CALL_INLINED_ALL)))
			return at;
		if (at > slot || outer_of(at) <= at)
			return 0;
		at = outer_of(at);
	}
	return 0;
}

/* Goes recording below the entry's frame on when this call ends, which was inlined into it? */
static bool still_opens(const struct mirror_entry *entry, uint32_t id)
{
	uint32_t frame = entry->word & TRACE_ID_MASK;

	return !filter_opens(id) || (frame != id && !(entry->address & CYG_CALL_ENDED) && filter_opens(frame));
}

void cyg_calls_leave(uint32_t id, uint64_t returns, uint64_t slot, int is_on)
{
	struct thread *thread = thread_self();
	struct stack *stack = thread ? own_stack(&thread, slot) : NULL;
	uint64_t at = stack ? find_open(stack, id, returns, slot, is_on) : 0;

	if (!at) {
		/* Switched on in the middle of the call; readers tell. Or a filter left it out. */
		if (thread && stack && is_on && dispatch_now() == DISPATCH_RECORD &&
			!(tramp_checks & TRAMP_CHECK_FILTERS))
			recorder_write(thread, stack, TRACE_WORD(TRACE_EXIT, id));
		return;
	}
	if (stack->hot.top < at) {
		stack = calls_settle(thread, stack, at - 8);
		if (stack->hot.top != at)
			return;
	}
	struct mirror_entry *entry = mirror_entry(at);
	uint64_t outer = outer_of(at);
	int inlined = (entry->address & CYG_CALL_INLINED_ALL) != 0;

	if (inlined)
		entry->address = (entry->address - CYG_CALL_INLINED) |
				 ((entry->word & TRACE_ID_MASK) == id ? CYG_CALL_ENDED : 0);
	filter_left(stack, inlined && still_opens(entry, id) ? 0 : at);
	/* Only where it may be left out: a look at the clock is half of what an event costs. */
	if (!(filter_options.time && filter_take_back(thread, TRACE_WORD(TRACE_ENTRY, id), (uint32_t)clock_now())))
		recorder_write(thread, stack, TRACE_WORD(TRACE_EXIT, id));
	/* After its event, as trampolines do it. A handler may have ended it. */
	if (!inlined)
		cpu_swaps_one(&stack->hot.top, at, outer);
}
