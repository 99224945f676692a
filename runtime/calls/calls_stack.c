/* SPDX-License-Identifier: MIT */
#include "runtime/calls/calls_stack.h"

#include "runtime/base/identity.h"
#include "runtime/calls/calls_ends.h"
#include "runtime/calls/calls_gaps.h"
#include "runtime/calls/calls_owner.h"
#include "runtime/process/process.h"
#include "runtime/process/thread.h"
#include "runtime/record/recorder.h"
#include "x86_64/confined.h"
#include "x86_64/mirror_split.h"

void calls_jump(struct thread *thread, struct stack *stack, uint64_t slot)
{
	stack = stack->hot.top < slot ? calls_settle(thread, stack, slot - 8) : stack;
	if (stack->hot.top == slot)
		calls_end(thread, stack, slot, TRACE_TAIL);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- whose a stack is ---- */

#define ROUNDS 8 /* more of them come only where threads come at the same moment again and again */

struct stack *calls_settle(struct thread *thread, struct stack *stack, uint64_t slot)
{
	/*
	 * Between here and the slot no other stack's frames can be. In the slot itself a call has just begun: an older
	 * XRay call there is over, whatever its return address.
	 */
	const uint64_t below = least(slot, (uint64_t)(uintptr_t)__builtin_frame_address(0)) - 8;
	/* A call in between is over, with what it called. */
	int is_left = stack->hot.top <= slot && calls_outermost(stack, slot) > below &&
		      !calls_is_anothers(stack, thread);

	for (int round = 0; !is_left && stack->hot.top <= below; round++) {
		uint64_t last = calls_outermost(stack, below);
		if (!last || !(calls_is_held(last, slot) || calls_is_anothers(stack, thread)))
			break;
		struct stack *upper = calls_carve(thread, stack, below, slot);
		if (!upper)
			upper = calls_part(thread, stack, below, slot, NULL);
		if (!upper)
			break;
		stack = upper;
		if (round == ROUNDS) /* the caller comes again */
			return stack;
	}
	/* Handlers hear of frames that had no calls, too. */
	calls_unwind(thread, stack, slot);
	return stack;
}

/*
 * The thread comes to a stack that was parted from the one above it. Calls that were open there may have been left
 * meanwhile: then their slots were written over. Ends these, from the outermost inwards.
 */
static void look_at_parted(struct thread *thread, struct stack *stack, uint64_t here)
{
	uint64_t gone = 0, at = stack->hot.top;

	if (calls_is_anothers(stack, thread))
		return;
	for (uint64_t outer; stack_has(stack, at); at = outer) {
		outer = at + 8ull * mirror_entry(at)->link;
		if (outer <= at)
			return;
		if (at != here && !calls_is_held(at, here))
			gone = at;
	}
	if (gone)
		calls_unwind(thread, stack, gone);
}

/* The thread changes from one stack to another. */
static void change(struct thread *thread, struct stack *from, struct stack *to)
{
	struct process_held held;

	if (from && from->parent && from->above == to && from->high == to->low && !stack_has_calls(from) &&
		to->hot.top == from->parent) {
		process_lock(&held);
		if (from->high && from->above == to && calls_runner(from) == thread)
			mirror_join(from, to);
		process_unlock(&held);
	}
	recorder_stack(thread, to);
}

/*
 * The thread's events are on the stack from here on, and no other thread's. Returns the stack that the slot lies on
 * then.
 */
static struct stack *come(struct thread *thread, struct stack *from, struct stack *stack, uint64_t slot)
{
	const uint64_t below = least(slot, (uint64_t)(uintptr_t)__builtin_frame_address(0)) - 8;
	const struct thread *other;
	int alone = from && from != &thread_nowhere, known = 1;

	if (from && calls_gaps_may_end(from, thread)) {
		calls_end_gaps(thread, from);
		/* Its place was filled, perhaps. */
		if (!stack->high && !(stack = mirror_find(slot)))
			return NULL;
	}
	for (int round = 0; round < ROUNDS; round++) {
		const void *expected = other = calls_runner(stack);
		if (other != thread)
			known = 0;
		if (other && other != thread && stack_has_calls(stack))
			calls_note_shared();
		/*
		 * A full barrier; pairs with the fence below. Not while the other one is there: a third one that comes
		 * has to see it.
		 */
		if (other != thread && !(other && calls_is_on(other, stack)) &&
			!__atomic_compare_exchange_n(
				&stack->runner, &expected, thread, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			continue;
		if (other && other != thread && calls_is_on(other, stack)) {
			struct stack *found = NULL;
			if (stack->hot.top <= below)
				found = calls_part(thread, stack, below, slot, other);
			if (!found)
				found = calls_take(
					thread, stack, below, slot, (struct thread *)(uintptr_t)other);
			/* What was parted from it, or has its place, is the thread's; it stays the other one's. */
			expected = thread;
			if (found != stack) /* a full barrier, as above */
				__atomic_compare_exchange_n(&stack->runner, &expected, other, 0, __ATOMIC_SEQ_CST,
					__ATOMIC_SEQ_CST);
			alone = 0;
			stack = found ? found : mirror_find(slot);
			if (!stack)
				return NULL;
			if (!found)
				continue;
		} else if (thread_kept(thread)->away) {
			stack = calls_go_on(thread, stack, slot);
		}
		change(thread, from, stack);
		/* Pairs with both exchanges above: of two threads that come at once, one at least sees the other. */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (calls_runner(stack) == thread)
			break;
		alone = 0;
		from = (struct stack *)thread->hot.stack;
		stack = mirror_find(slot);
		if (!stack)
			return NULL;
	}
	if (!known) {
		stack->tid = thread->tid;
		stack->generation = identity_generation();
	}
	/*
	 * Not where a stack only grew, nor of a thread that forked or was sent away: a call that a handler came into
	 * the middle of has no label yet, but is open.
	 */
	if (alone && from != stack && stack->parent && stack_has_calls(stack))
		look_at_parted(thread, stack, slot);
	return stack->gaps || (stack->native && stack->parent) ? calls_look_at_gaps(thread, stack, slot) : stack;
}

/*
 * A thread begins on its own stack: calls that are open there are those of an earlier thread, which is gone. But a
 * thread that forked goes on, as the child's first thread.
 */
static void begin(struct thread *thread, struct stack *stack)
{
	struct process_held held;
	const struct thread *runner = calls_runner(stack);
	int forked = stack->generation != identity_generation();

	if ((forked ? identity_pid() : stack->tid) == thread->tid || !mirror_is_own(stack))
		return;
	/* One that ended by the system call alone is there still, as its record says. */
	if (runner && runner != thread && calls_is_on(runner, stack) &&
		(confined() || !identity_thread_is_gone(runner->tid)))
		return;
	/* Calls of a thread that ended without notice end in the trace where the next one begins on its stack. */
	if (!forked) {
		calls_unwind_parts(thread, stack, runner, CALLS_OF_EARLIER);
		thread->hot.stack = NULL; /* it gets another number */
	}
	process_lock(&held);
	mirror_leave(stack);
	process_unlock(&held);
}

struct stack *calls_find(struct thread *thread, uint64_t slot, enum thread_caller *caller)
{
	struct process_held held;
	struct stack *from = (struct stack *)thread->hot.stack, *stack = from;

	*caller = THREAD_OWN;
	if (stack && slot - stack->hot.low < stack->hot.size)
		return stack;
	/* Of a stack that was not used for long: it comes while the others are waited for. */
	__builtin_prefetch(mirror_entry(slot), 1);
	stack = mirror_find(slot);
	int known = from && stack && calls_runner(stack) == thread;
	if (known && !thread_is_shared())
		return come(thread, from, stack, slot);
	*caller = thread_caller(thread, slot);
	if (*caller == THREAD_STRANGER)
		return NULL;
	from = (struct stack *)thread->hot.stack; /* it may have been another one's, who is gone */
	if (from && known)
		return come(thread, from, stack, slot);
	if (!stack && process_is_inside()) {
		*caller = THREAD_GUEST;
		return NULL;
	}
	if (!stack) {
		process_lock(&held);
		stack = mirror_claim(slot, from, thread);
		process_unlock(&held);
	}
	/*
	 * A guest's stack does not become the thread's: it may be another task's before the thread makes an event.
	 */
	if (!stack || (*caller == THREAD_GUEST && calls_runner(stack) != thread))
		return NULL;
	if (!from)
		begin(thread, stack);
	stack = come(thread, from, stack, slot);
	/* Else a handler has forked, and the child has taken it without its own number: once more. */
	return thread_is_wiped(thread) ? NULL : stack;
}

struct stack *calls_find_own(struct thread **thread, uint64_t slot, enum thread_caller *caller)
{
	struct stack *stack;

	do {
		*thread = thread_get();
		stack = *thread ? calls_find(*thread, slot, caller) : NULL;
	} while (*thread && !stack && thread_is_wiped(*thread));
	return stack;
}
