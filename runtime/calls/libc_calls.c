/* SPDX-License-Identifier: MIT */
/* What stubs of libc's functions say that are watched without events (x86_64/contract.h, audit/bind/nointercept.h). */
#include <stdbool.h>
#include <stddef.h>	  /* offsetof */
#include <sys/resource.h> /* struct rlimit */

#include "runtime/calls/calls.h"
#include "runtime/calls/calls_ends.h"
#include "runtime/calls/calls_owner.h"
#include "runtime/calls/calls_stack.h"
#include "runtime/files/pool.h"
#include "runtime/files/pool_grow.h"
#include "runtime/process/clock.h"
#include "runtime/process/leave.h"
#include "runtime/process/process.h"
#include "runtime/record/dispatch.h"
#include "runtime/record/recorder.h"
#include "x86_64/confined.h"
#include "x86_64/libc.h"

enum tramp_answer tramp_slow_landed(uint64_t slot)
{
	struct thread *thread = thread_self();
	struct stack *stack = thread ? calls_stack(thread, slot) : NULL;

	if (stack)
		calls_unwind(thread, stack, slot);
	return TRAMP_AGAIN;
}

enum tramp_answer tramp_slow_jump(uint64_t env)
{
	struct thread *thread = thread_self();

	if (!thread)
		return TRAMP_PASS;
	uint64_t sp = libc_jump_stack((const uint64_t *)(uintptr_t)env);
	/*
	 * The frame that lands keeps its own slot, above sp. A jump to another stack ends nothing on this one: it may
	 * come back.
	 */
	struct stack *stack = calls_stack(thread, sp);
	if (stack)
		calls_unwind(thread, stack, sp - 8);
	return TRAMP_AGAIN;
}

enum tramp_answer tramp_slow_caller(uint64_t slot)
{
	struct thread *thread;
	struct stack *stack = calls_own_stack(&thread, slot);

	/* First: a handler that comes in between finds an open call that has returned, or none. */
	*(uint64_t *)(uintptr_t)slot = mirror_entry(slot)->address;
	if (stack)
		calls_jump(thread, stack, slot);
	return TRAMP_AGAIN;
}

/*
 * Gives all return labels in a range of a stack the other clock, as far as it can be read. (Those of their own get it
 * by the dispatch table.) A word that only looks like a label is left alone. The label may be that of a neighbouring
 * stack, whose thread runs: either label is right for it.
 */
static void leave_tsc(uint64_t slot, uint64_t end)
{
	const uint64_t tsc = (uint64_t)(uintptr_t)dispatch_label(), mono = (uint64_t)(uintptr_t)tramp_return_mono;

	for (uint64_t first = slot; slot < end; slot += 8) {
		uint64_t *at = (uint64_t *)(uintptr_t)slot, expected = tsc;
		if ((slot == first || !(slot & 4095)) && !mirror_is_readable(slot)) {
			slot |= 4088;
			continue;
		}
		/* Relaxed, both: a word as good as the other. */
		if (__atomic_load_n(at, __ATOMIC_RELAXED) == tsc)
			__atomic_compare_exchange_n(at, &expected, mono, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
}

/*
 * Any stack that has open calls: one of the thread's, a coroutine's that is suspended, or another thread's, for which
 * both labels are right, too.
 */
static void leave_tsc_of(struct stack *stack, void *context)
{
	uint64_t sp = *(const uint64_t *)context, top = stack->hot.top;

	if (stack_has(stack, sp))
		top = sp;
	if (stack_has(stack, top))
		leave_tsc(top, stack->high);
}

enum tramp_answer tramp_slow_prctl(uint64_t sp)
{
	struct process_held held;

	process_lock(&held);
	clock_leave_tsc();
	recorder_clock_changed();
	mirror_each(leave_tsc_of, &sp);
	process_unlock(&held);
	return TRAMP_AGAIN;
}

/* Calls that are open on a stack of the thread's return to their callers, without us. */
static void let_return(struct stack *stack, void *context)
{
	uint64_t slot = stack->hot.top;

	/* Relaxed: where another thread runs on it, that is its own. */
	if (__atomic_load_n(&stack->runner, __ATOMIC_RELAXED) != context)
		return;
	while (stack_has(stack, slot)) {
		uint64_t outer = slot + 8ull * mirror_entry(slot)->link;
		if (calls_is_intercepted(slot))
			*(uint64_t *)(uintptr_t)slot = mirror_entry(slot)->address;
		if (outer == slot)
			break;
		slot = outer;
	}
}

enum tramp_answer tramp_slow_strict(uint64_t unused)
{
	struct thread *thread = thread_self();
	struct process_held held;
	uint32_t mode, is_recording;

	(void)unused;
	process_lock(&held);
	recorder_state(&mode, &is_recording);
	if (is_recording && process_state() == PROCESS_ON)
		process_say(
			"the program allows itself no system calls (SECCOMP_MODE_STRICT); nothing more is recorded");
	process_why("the program allows itself no system calls (SECCOMP_MODE_STRICT)");
	recorder_set_recording(0);
	if (thread)
		mirror_each(let_return, thread);
	process_unlock(&held);
	if (thread)
		calls_unwind_all(thread);
	process_confine(1);
	return TRAMP_AGAIN;
}

/* Does a struct rlimit there, as far as it can be read, ask for RLIM_INFINITY? */
static bool is_no_limit(uint64_t limit)
{
	return limit && mirror_holds(limit, UINT32_MAX) && mirror_holds(limit + 4, UINT32_MAX);
}

enum tramp_answer tramp_slow_shrink(uint64_t limit)
{
	struct process_held held;

	process_lock(&held);
	if (!confined() && !is_no_limit(limit))
		pool_shrink();
	process_unlock(&held);
	return TRAMP_AGAIN;
}

static void reach_far(void)
{
	struct process_held held;

	process_lock(&held);
	if (pool_is_open())
		pool_reach_far();
	process_unlock(&held);
}

enum tramp_answer tramp_slow_reach(uint64_t limit)
{
	if (!is_no_limit(limit))
		reach_far();
	return TRAMP_AGAIN;
}

enum tramp_answer tramp_slow_descriptors(uint64_t limit)
{
	uint64_t hard = limit + offsetof(struct rlimit, rlim_max);

	/* One has to be opened within another's folder. With less of a limit than the hard one it can be had back. */
	if (limit && mirror_holds(hard + 4, 0) && (mirror_holds(hard, 0) || mirror_holds(hard, 1)))
		reach_far();
	return TRAMP_AGAIN;
}

enum tramp_answer tramp_slow_rights(const uint32_t call[4])
{
	leave_before(call);
	return TRAMP_AGAIN;
}

enum tramp_answer tramp_slow_confine(uint64_t sp)
{
	struct process_held held;

	process_lock(&held);
	int is_on = process_state() == PROCESS_ON;
	if (is_on)
		pool_prepare();
	mirror_prepare(sp);
	process_unlock(&held);
	/* Records for other threads, and later ones, lie in the same memory. */
	if (is_on)
		thread_get();
	process_confine(0);
	return TRAMP_AGAIN;
}
