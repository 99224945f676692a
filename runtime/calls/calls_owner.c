/* SPDX-License-Identifier: MIT */
#include "runtime/calls/calls_owner.h"

#include <stdbool.h>

#include "runtime/base/identity.h"
#include "runtime/process/clock.h"
#include "runtime/process/epoch.h"
#include "runtime/process/process.h"
#include "runtime/process/waits.h"
#include "runtime/record/dispatch.h"
#include "runtime/record/filter.h"
#include "runtime/record/recorder.h"
#include "x86_64/confined.h"
#include "x86_64/labels.h"
#include "runtime/values/side.h"
#include "x86_64/mirror_split.h"
#include "x86_64/sys.h"

/* Where a call was left, its slot may be what a sanitizer lets nobody read. */
__attribute__((no_sanitize("address", "thread"))) bool calls_is_intercepted(uint64_t slot)
{
	return labels_is_any(*(const uint64_t *)(uintptr_t)slot);
}

bool calls_holds_label(uint64_t slot)
{
	const uint64_t own = labels_find(mirror_entry(slot)->address);

	return (own && mirror_holds(slot, (uint32_t)own)) ||
	       mirror_holds(slot, (uint32_t)(uintptr_t)dispatch_label()) ||
	       (clock_source() != TRACE_CLOCK_TSC && mirror_holds(slot, (uint32_t)(uintptr_t)tramp_return_mono));
}

uint64_t calls_outermost(const struct stack *stack, uint64_t slot)
{
	uint64_t at = stack->hot.top;

	for (;;) {
		/* Another thread's call may have ended since: the top is then further out than the slot. */
		if (at > slot || !stack_has(stack, at))
			return 0;
		uint64_t outer = at + 8ull * mirror_entry(at)->link;
		if (outer <= at)
			return 0;
		if (outer > slot)
			return at;
		at = outer;
	}
}

/* How many calls are open at or below the slot of one of them; around it. */
static uint32_t count_inside(const struct stack *stack, uint64_t slot)
{
	uint32_t n = 1;

	for (uint64_t at = stack->hot.top, outer; at < slot; at = outer, n++) {
		outer = at + 8ull * mirror_entry(at)->link;
		if (outer <= at)
			break;
	}
	return n;
}

static uint32_t count_around(const struct stack *stack, uint64_t slot)
{
	uint32_t n = 0;

	for (uint64_t at = slot, outer; (outer = at + 8ull * mirror_entry(at)->link) > at; at = outer, n++)
		if (!stack_has(stack, outer))
			break;
	return n;
}

/* The other thread's next event looks for its stack again. */
static void send_away(const struct thread *other, struct stack *stack)
{
	struct tramp_stack *expected = &stack->hot;

	/* Relaxed, both: it sees it with its next event, or the one after that. */
	__atomic_compare_exchange_n((struct tramp_stack **)(uintptr_t)&other->hot.stack, &expected, &thread_nowhere.hot,
		0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* It is there, in the middle of a call: as if it had not been sent away. Its struct and number are what they were. */
static void let_stay(const struct thread *other, struct stack *stack)
{
	struct tramp_stack *expected = &thread_nowhere.hot;

	/* Relaxed, both: else it has come to some stack by itself. */
	__atomic_compare_exchange_n((struct tramp_stack **)(uintptr_t)&other->hot.stack, &expected, &stack->hot, 0,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void set_runner(struct stack *stack, const struct thread *thread)
{
	__atomic_store_n(&stack->runner, thread, __ATOMIC_RELAXED); /* relaxed: as calls_runner() */
}

/* The struct that the thread was sent away from, if it comes back to that stack, or a part of it; or NULL. */
static struct stack *own_struct(const struct thread *thread, const struct stack *stack)
{
	struct stack *away = thread_kept(thread)->away;

	return away && away->end == stack->end ? away : NULL;
}

void calls_give_to(struct thread *thread, struct stack *stack)
{
	if (thread_kept(thread)->away == stack)
		thread_kept(thread)->away = NULL;
	stack->tid = thread->tid;
	stack->generation = identity_generation();
	set_runner(stack, thread);
}

/*
 * Parts the stack: calls up to `slot` are those of the part below `from`; see mirror_split(). The thread, which may not
 * be on the stack, gets the lower part if is_lower, else the upper one, in a struct of its own, which is returned. How
 * many calls are in the lower part, and how many around them, is told. Lock held.
 */
static struct stack *part_at(struct stack *stack, uint64_t slot, uint64_t from, int is_lower, struct thread *thread,
	uint32_t *kept, uint32_t *around)
{
	uint64_t top = slot ? slot : stack->hot.top;

	*kept = slot ? count_inside(stack, slot) : 0;
	/* The innermost of all is around those that stay, if none does. */
	*around = stack_has(stack, top) ? count_around(stack, top) + !slot : 0;

	struct stack *other = mirror_split(stack, slot, from, is_lower, own_struct(thread, stack));
	if (!other)
		return NULL;
	filter_count(stack);
	filter_count(other);
	calls_give_to(thread, other);
	return other;
}

/* Signals stay blocked until the caller has written to the trace what it did, which it does without the lock. */
static void begin(struct process_held *held, uint64_t *before)
{
	sys_block_signals(before);
	process_lock(held);
}

struct stack *calls_part(
	struct thread *thread, struct stack *stack, uint64_t limit, uint64_t here, const struct thread *other)
{
	struct process_held held;
	struct stack *upper = NULL, *lower = stack;
	uint32_t kept = 0, around = 0;
	uint64_t before;

	begin(&held, &before);
	/* A handler, or another thread, may have parted them in between. */
	if (stack_owns(stack, here) && stack->hot.top <= limit) {
		int is_own = !other && calls_runner(stack) == thread;
		uint64_t slot = !other || calls_is_on(other, stack) ? calls_outermost(stack, limit) : 0;
		struct stack *part = slot ? part_at(stack, slot, mirror_border(slot, here), is_own, thread, &kept,
						    &around)
					  : NULL;
		/*
		 * The thread keeps its struct, which code that a handler of it has interrupted goes on with, and the
		 * lower part the number.
		 */
		if (part && is_own)
			mirror_swap_numbers(stack, part);
		if (part && !other)
			side_share(stack, part);
		lower = is_own ? part : stack;
		upper = part && is_own ? stack : part;
	} else {
		upper = mirror_find(here);
	}
	process_unlock(&held);
	if (upper && kept && other) {
		calls_note_shared();
		recorder_part_outer(thread, lower, upper, kept, around);
	} else if (upper && kept) {
		recorder_part(thread, lower, upper, kept);
	} else if (upper && !other) {
		recorder_stack(thread, upper);
	}
	sys_set_signals(&before, NULL);
	return upper;
}

/* Where to part a stack between two addresses of which the lower one is the lower part's, and both are slots. */
static uint64_t middle(uint64_t low, uint64_t high)
{
	uint64_t at = low + (high - low) / 2, page = at & ~4095ul;

	return page > low ? page : (at & ~7ul) + 8;
}

/*
 * The other thread is on the stack, and waits with its stack pointer at sp: so it is on another one than this thread,
 * which comes to the slot. No call is open below that. Returns the stack that the slot lies on then; NULL: it can't be
 * parted.
 */
static struct stack *part_from(
	struct thread *thread, struct stack *stack, uint64_t slot, const struct thread *other, uint64_t sp)
{
	struct process_held held;
	struct stack *mine = NULL;
	uint32_t kept = 0, around = 0;
	uint64_t before, last = 0;

	begin(&held, &before);
	if (stack_owns(stack, slot) && stack_owns(stack, sp) && stack->hot.top >= slot && calls_is_on(other, stack)) {
		/* Between the slot and sp, calls are this thread's. */
		last = slot < sp && stack->hot.top < sp ? calls_outermost(stack, sp) : 0;
		stack->asked = 0;
		if (stack_has_calls(stack))
			calls_note_shared();
		mine = slot < sp ? part_at(stack, last, middle(last ? last : slot, sp), 1, thread, &kept, &around)
				 : part_at(stack, 0, middle(sp, slot), 0, thread, &kept, &around);
		/* The trace knows these by the number, and can part the other one's from it. */
		if (mine && last) {
			mirror_swap_numbers(stack, mine);
			send_away(other, stack);
		}
	}
	process_unlock(&held);
	if (mine && slot > sp)
		recorder_part_outer(thread, stack, mine, kept, around);
	else if (mine && last && around)
		recorder_part_outer(thread, mine, stack, kept, around);
	if (mine)
		recorder_stack(thread, mine);
	sys_set_signals(&before, NULL);
	return mine;
}

/*
 * Has the innermost call of the stack no label: is a thread just entering or leaving it, on its own stack? Of an XRay
 * call, or one that is told, it can't be seen. The call's memory may be gone, but not in a page that the caller uses.
 */
static bool is_amid(const struct stack *stack, uint64_t here)
{
	uint64_t top = stack->hot.top;

	if (!stack_has(stack, top) || top <= here || !(top & 8) || confined())
		return false;
	return (top ^ here) >> 12 ? !calls_holds_label(top) && mirror_is_readable(top) : !calls_is_intercepted(top);
}

/*
 * The other thread is on the stack, as it seems, and is not known to be on another part of it: unless it is just
 * entering or leaving a call there, the stack is this thread's, which comes to the slot. The other one keeps the
 * struct. Returns the stack that the slot lies on then; NULL: something has changed.
 */
static struct stack *take(
	struct thread *thread, struct stack *stack, uint64_t limit, uint64_t slot, struct thread *other)
{
	struct process_held held;
	struct stack *mine = NULL;
	uint32_t kept = 0, around = 0;
	uint64_t before, last = 0;

	begin(&held, &before);
	if (mirror_find(slot) == stack && calls_is_on(other, stack)) {
		set_runner(stack, thread);
		send_away(other, stack);
		/* Pairs with stay_away() in recorder.c, and the trampolines' look at the stack before they store. */
		if (!confined())
			epoch_fence_all();
		send_away(other, stack);
		if (stack_has_calls(stack))
			calls_note_shared();
		/* It has begun a call below since the caller looked. */
		last = stack->hot.top <= limit ? calls_outermost(stack, limit) : 0;
		if (last)
			mine = part_at(stack, last, mirror_border(last, slot), 0, thread, &kept, &around);
		else if (is_amid(stack, slot))
			mine = part_at(stack, 0, middle(slot, stack->hot.top), 1, thread, &kept, &around);
		if (mine) {
			set_runner(stack, other);
			let_stay(other, stack);
		} else if ((mine = mirror_replace(stack, own_struct(thread, stack)))) {
			if (thread_kept(other)->away)
				mirror_drop(thread_kept(other)->away);
			thread_kept(other)->away = stack;
			calls_give_to(thread, mine);
		}
		/* Without memory the struct is this thread's, too. */
		mine = mine ? mine : stack;
	}
	process_unlock(&held);
	if (last && mine && mine != stack)
		recorder_part_outer(thread, stack, mine, kept, around);
	sys_set_signals(&before, NULL);
	return mine;
}

struct stack *calls_go_on(struct thread *thread, struct stack *stack, uint64_t slot)
{
	struct process_held held;
	uint64_t before;

	begin(&held, &before);
	struct stack *own = own_struct(thread, stack);
	if (own && mirror_find(slot) == stack && calls_runner(stack) == thread && mirror_replace(stack, own)) {
		mirror_drop(stack);
		calls_give_to(thread, own);
		stack = own;
	}
	process_unlock(&held);
	sys_set_signals(&before, NULL);
	return stack;
}

#define ALWAYS_ASKED 4

/*
 * The other thread is on the stack to which this one comes, as it seems, and where no call is open below the slot. That
 * it is another stack can be told if it waits there; else the stack is this thread's from here on. Returns the stack
 * that the slot lies on then, or NULL. It is asked ever less often, for nothing is found out where threads go on with
 * each other's coroutines.
 */
static struct stack *part_if_waits(
	struct thread *thread, struct stack *stack, uint64_t slot, const struct thread *other)
{
	/* Relaxed: as the word says. */
	uint32_t asked = __atomic_add_fetch(&stack->asked, 1, __ATOMIC_RELAXED);

	if ((asked > ALWAYS_ASKED && asked & (asked - 1)) || confined())
		return NULL;
	uint64_t sp = waits_where(other->tid);
	return sp && stack_owns(stack, sp) ? part_from(thread, stack, slot, other, sp) : NULL;
}

#define ALWAYS_TAKEN 64

/*
 * take() without its costs, where threads go on with each other's coroutines: a thread that is between two instructions
 * may then store one top more, or another's event.
 */
static struct stack *take_lightly(struct thread *thread, struct stack *stack, const struct thread *other)
{
	const void *expected = other;

	send_away(other, stack);
	/* A full barrier; pairs with the fence in come(), of the other one, which may have come back in between. */
	__atomic_compare_exchange_n(&stack->runner, &expected, thread, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	send_away(other, stack);
	return stack;
}

struct stack *calls_take(
	struct thread *thread, struct stack *stack, uint64_t limit, uint64_t slot, struct thread *other)
{
	struct stack *mine = part_if_waits(thread, stack, slot, other);
	/* Relaxed: as the word says. */
	uint32_t asked = __atomic_load_n(&stack->asked, __ATOMIC_RELAXED);

	if (mine)
		return mine;
	return asked > ALWAYS_TAKEN && asked & (asked - 1) && stack->hot.top > limit && !is_amid(stack, slot)
		? take_lightly(thread, stack, other)
		: take(thread, stack, limit, slot, other);
}
