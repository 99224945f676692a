/* SPDX-License-Identifier: MIT */
#include "runtime/calls/calls.h"

#include <stdbool.h>

#include "runtime/base/identity.h"
#include "runtime/calls/calls_ends.h"
#include "runtime/calls/calls_gaps.h"
#include "runtime/calls/calls_owner.h"
#include "runtime/calls/calls_stack.h"
#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "runtime/process/process_counters.h"
#include "runtime/process/thread.h"
#include "runtime/record/dispatch.h"
#include "runtime/record/last_name.h"
#include "runtime/record/recorder.h"
#include "x86_64/confined.h"
#include "x86_64/sys.h"

/*
 * Came the word only because it might have started recording? It did not ask, since there is no place to keep the call
 * in. What ends belongs to what was recorded.
 */
static bool is_quiet(const struct thread *thread, uint32_t type)
{
	return type != TRACE_EXIT && type != TRACE_TAIL &&
	       (dispatch_now() == DISPATCH_WATCH || thread_is_muted(thread));
}

void tramp_slow_event(uint64_t found, uint64_t event, uint64_t slot)
{
	enum thread_caller caller;
	struct thread *thread;

	/* A forked child of ours, or our parent, came first. */
	if (found == event)
		return;
	while ((thread = thread_get())) {
		struct stack *stack = calls_find(thread, slot, &caller);
		if (caller == THREAD_STRANGER) {
			process_lose(TRACE_LOST_STRANGER);
			return;
		}
		if (is_quiet(thread, (uint32_t)(event >> 32) >> TRACE_ID_BITS))
			return;
		if (recorder_write_slowly(thread, stack, (uint32_t)(event >> 32)))
			return;
	}
}

enum tramp_answer tramp_slow_enter(uint64_t slot)
{
	enum thread_caller caller;
	struct thread *thread;
	struct stack *stack = calls_find_own(&thread, slot, &caller);

	if (!thread)
		return TRAMP_PASS;
	if (!stack) {
		if (caller == THREAD_STRANGER) {
			process_lose(TRACE_LOST_STRANGER);
			return TRAMP_PASS;
		}
		if (caller == THREAD_OWN)
			PROCESS_COUNT(no_mirror, 1);
		return TRAMP_POINTED;
	}
	/* A call whose slot holds our label has tail-jumped here: it is alive, and its slot will be taken over. */
	calls_settle(thread, stack, calls_is_intercepted(slot) ? slot - 8 : slot);
	return TRAMP_AGAIN;
}

enum tramp_answer tramp_slow_enter_xray(uint64_t x)
{
	struct thread *thread;
	struct stack *stack = calls_own_stack(&thread, x);

	if (stack && stack->hot.top == x + 8 && !calls_is_intercepted(x + 8))
		calls_unwind(thread, stack, x + 8);
	return tramp_slow_enter(x);
}

/*
 * The word below sp may be an open call's: an XRay function's that has not pushed anything. What lies below that is
 * dead.
 */
enum tramp_answer tramp_slow_probe(uint64_t sp)
{
	enum thread_caller caller;
	struct thread *thread;
	struct stack *stack = calls_find_own(&thread, sp - 8, &caller);

	if (!thread)
		return TRAMP_PASS;
	if (!stack) {
		if (caller != THREAD_STRANGER)
			return TRAMP_POINTED;
		process_lose(TRACE_LOST_STRANGER);
		return TRAMP_PASS;
	}
	calls_settle(thread, stack, sp - 16);
	return TRAMP_AGAIN;
}

/* Is the slot that of an open call of the stack, or its end? */
static bool is_open(const struct stack *stack, uint64_t slot)
{
	uint64_t at = stack->hot.top;

	while (at < slot && stack_has(stack, at)) {
		uint64_t outer = at + 8ull * mirror_entry(at)->link;
		if (outer == at)
			return false;
		at = outer;
	}
	return at == slot;
}

/* Is the mirror entry of slot that of the call which ends there? The words may be what a sanitizer lets nobody read. */
static __attribute__((no_sanitize("address", "thread"))) bool is_genuine(const struct stack *stack, uint64_t slot)
{
	const struct mirror_entry *entry = mirror_entry(slot);

	/*
	 * An XRay call: kept below its slot, with the return address that lies in the slot. A sled may have been
	 * switched on in the middle of the call; then the entry is that of an earlier call from the same place, and its
	 * outer call is not open any more.
	 */
	return calls_is_intercepted(slot) || (calls_is_kept(entry, ((const uint64_t *)(uintptr_t)slot)[1]) &&
						     is_open(stack, slot + 8ull * entry->link));
}

enum tramp_answer tramp_slow_leave(uint64_t slot)
{
	enum thread_caller caller;
	struct thread *thread;
	struct stack *stack = calls_find_own(&thread, slot, &caller);

	if (!thread)
		return TRAMP_PASS;
	if (!stack)
		return caller == THREAD_STRANGER ? TRAMP_PASS : TRAMP_POINTED;
	if (stack->hot.top < slot)
		stack = calls_settle(thread, stack, slot - 8);
	if (stack->hot.top == slot)
		return TRAMP_AGAIN;
	if (slot & 8 && calls_is_intercepted(slot) && mirror_entry(slot)->link == CALLS_LINK_ENDED)
		return TRAMP_ENDED;
	/* Open, but not in the chain: it was taken for left, or the chain was lost. Its own link is as good as any. */
	if (!is_genuine(stack, slot))
		return TRAMP_POINTED;
	stack->hot.top = slot;
	return TRAMP_AGAIN;
}

struct stack *calls_unwind_all(struct thread *thread)
{
	/* It may have used another stack last: a signal handler's. */
	struct stack *stack =
		thread->hot.stack ? calls_stack(thread, (uint64_t)(uintptr_t)__builtin_frame_address(0)) : NULL;

	/* Behind a thread's own stack, and what libc keeps there, another one's may begin. */
	if (!stack)
		return NULL;
	calls_unwind(thread, stack,
		(mirror_is_own(stack) && stack->native < stack->high ? stack->native : stack->high) - 8);
	calls_unwind_parts(thread, stack, thread, CALLS_OF_THREAD);
	recorder_stack(thread, stack);
	return stack;
}

void calls_finish(void)
{
	struct process_held held;
	struct thread *thread = thread_self();

	if (thread) {
		calls_unwind_all(thread);
		last_name_note(thread);
	}
	process_lock(&held);
	process_clock();
	/* The process of a child that shares our memory is another one. */
	if (process_head() && (confined() || identity_is_ours()))
		process_head()->flags |= TRACE_EXITED;
	process_unlock(&held);
}
