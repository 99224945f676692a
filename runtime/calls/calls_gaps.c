/* SPDX-License-Identifier: MIT */
#include "runtime/calls/calls_gaps.h"

#include "runtime/calls/calls_ends.h"
#include "runtime/calls/calls_owner.h"
#include "runtime/process/process.h"
#include "runtime/record/recorder.h"
#include "x86_64/mirror_split.h"
#include "x86_64/sys.h"

#define ROUNDS	   8	/* of looks at gaps, each of which ends one thing: what is left is found by the next event */
#define PARTS_MOST 1024 /* more have no calls that would be looked for */

struct stack *calls_carve(struct thread *thread, struct stack *stack, uint64_t limit, uint64_t here)
{
	struct process_held held;
	struct stack *inner = NULL;
	uint64_t before;

	if (!mirror_is_whole(stack) || calls_runner(stack) != thread)
		return NULL;
	sys_block_signals(&before);
	process_lock(&held);
	/* A handler may have parted them in between. */
	uint64_t slot = stack_owns(stack, here) ? calls_outermost(stack, limit) : 0;
	/* Where a call ends that is around those below, these were another stack's. */
	if (slot && slot + 8ull * mirror_entry(slot)->link > here + 8)
		inner = mirror_carve(stack, slot, here, thread);
	if (inner)
		calls_give_to(thread, inner);
	process_unlock(&held);
	if (inner)
		recorder_stack(thread, inner);
	sys_set_signals(&before, NULL);
	return inner;
}

/* Fills the gap, if it is one of the stack's still, and no call is open there. */
static void fill(struct stack *stack, struct stack *gap)
{
	struct process_held held;
	struct stack *at;

	process_lock(&held);
	for (at = stack->gaps; at && at != gap; at = at->above)
		;
	if (at && !mirror_in_gap(stack, gap))
		mirror_fill(stack, gap);
	process_unlock(&held);
}

/*
 * A gap is over when no call is open there, nor below it. If the call around it has ended, its frame is gone; but that
 * one may have been another stack's in truth. So calls in the gap are, too, only where their places were written over.
 */
void calls_end_gaps(struct thread *thread, struct stack *stack)
{
	const uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	struct stack *gap = stack->gaps;

	for (int round = 0; round < ROUNDS && gap && gap->high <= stack->hot.top; round++) {
		struct stack *inner = mirror_in_gap(stack, gap), *next = gap->above;
		if (!inner) {
			fill(stack, gap);
			gap = stack->gaps;
			continue;
		}
		uint64_t last = calls_outermost(inner, inner->high - 8);
		if (gap->high < stack->hot.top && last && !calls_is_anothers(inner, thread) &&
			!calls_is_held(last, here))
			calls_unwind(thread, inner, inner->high - 8);
		else
			gap = next;
	}
}

struct stack *calls_look_at_gaps(struct thread *thread, struct stack *stack, uint64_t slot)
{
	struct stack *whole = stack->gaps ? stack : mirror_around(stack);

	if (whole && calls_gaps_may_end(whole, thread)) {
		calls_end_gaps(thread, whole);
		/* Its place was filled, perhaps. */
		if (!stack->high)
			stack = whole;
		recorder_stack(thread, stack);
	}
	if (stack->gaps && slot - stack->hot.low >= stack->hot.size) {
		struct process_held held;
		process_lock(&held);
		if (stack_has(stack, slot))
			mirror_set_window(stack, slot);
		process_unlock(&held);
	}
	return stack;
}

void calls_unwind_parts(
	struct thread *thread, struct stack *stack, const struct thread *runner, enum calls_parts_of of)
{
	struct process_held held;
	struct stack *part, *before = NULL;

	for (int n = 0; n < PARTS_MOST; n++) {
		process_lock(&held);
		part = mirror_open_part(stack, runner);
		process_unlock(&held);
		if (!part || part == before)
			return;
		if (of == CALLS_OF_EARLIER) {
			calls_note_shared();
			calls_end_quietly(thread, part);
		} else {
			calls_unwind(thread, part, part->high - 8);
		}
		before = part;
	}
}
