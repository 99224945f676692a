/* SPDX-License-Identifier: MIT */
#include "runtime/calls.h"

#include "runtime/clock.h"
#include "runtime/filter.h"
#include "runtime/identity.h"
#include "runtime/process.h"
#include "runtime/recorder.h"
#include "runtime/thread.h"
#include "runtime/told.h"
#include "x86_64/confined.h"
#include "x86_64/cpu.h"
#include "x86_64/sys.h"

static struct calls_hooks hooks;

void calls_init(const struct calls_hooks *given)
{
	hooks = *given;
}

/*
 * The link of a call whose return is intercepted, and that was ended as unwound: should it return nevertheless, as the
 * function of libc that tells us of a thread's end does, the trace has its end already. XRay calls and those that are
 * told lie below their slots, at multiples of 16, and keep their links. No open call has this one.
 */
#define LINK_ENDED 0

/*
 * Ends the innermost open call if it is still `slot`: one instruction takes it, so a handler in between takes another
 * or none.
 */
static int take_top(struct tramp_stack *stack, uint64_t slot, uint64_t outer)
{
	return cpu_swaps_one(&stack->top, slot, outer);
}

/* Ends every open call at or below the slot, with an event of this type. */
static void end_calls(struct thread *thread, struct stack *stack, uint64_t slot, enum trace_type type)
{
	uint64_t top;
	/* Relaxed: see filter.h. */
	int handled = __atomic_load_n(&tramp_checks, __ATOMIC_RELAXED) & TRAMP_CHECK_HANDLERS;

	if (handled)
		hooks.frames_gone(thread, stack->low, slot);
	while ((top = stack->hot.top) <= slot) {
		if (!stack_has(stack, top)) {
			stack->hot.top = stack->end;
			return;
		}
		const struct mirror_entry entry = *mirror_entry(top);
		uint64_t outer = top + 8ull * entry.link;
		if (outer == top || outer > stack->end) {
			/*
			 * This is none of our entries: the program wrote over the mirror. Forget the chain rather than
			 * follow it.
			 */
			stack->hot.top = stack->end;
			return;
		}
		if (take_top(&stack->hot, top, outer)) {
			int told = (entry.address & TOLD_MARK) != 0, ended = told && entry.address & TOLD_ENDED;
			if (!told && top & 8)
				mirror_entry(top)->link = LINK_ENDED;
			filter_left(stack, entry.word & TRACE_ID_MASK);
			if (!ended && !filter_take_back(thread, entry.word, (uint32_t)clock_now()))
				recorder_write(thread, stack,
					entry.word ^ TRACE_WORD(TRACE_ENTRY, 0) ^ TRACE_WORD(type, 0));
			if (handled && !told)
				hooks.unwound(thread, entry.word & TRACE_ID_MASK);
		}
	}
}

void calls_unwind(struct thread *thread, struct stack *stack, uint64_t slot)
{
	end_calls(thread, stack, slot, TRACE_UNWIND);
}

void calls_jump(struct thread *thread, struct stack *stack, uint64_t slot)
{
	stack = stack->hot.top < slot ? calls_settle(thread, stack, slot - 8) : stack;
	if (stack->hot.top == slot)
		end_calls(thread, stack, slot, TRACE_TAIL);
}

/*
 * calls_is_intercepted() for memory that may be gone at any moment, by the lower halves of the labels: no other address
 * on a stack has such a lower half.
 */
static int holds_label(uint64_t slot)
{
	return mirror_holds(slot, (uint32_t)(uintptr_t)tramp_return_tsc) ||
	       (clock_source() != TRACE_CLOCK_TSC && mirror_holds(slot, (uint32_t)(uintptr_t)tramp_return_mono));
}

/* Does the word hold the return address that the entry of an XRay call, or of one that was told, has? */
static int is_kept(const struct mirror_entry *entry, uint64_t word)
{
	return entry->address & TOLD_MARK ? (entry->address & TOLD_ADDRESS) == word : entry->address == word;
}

/*
 * Is the word where the call's return address was still what we or the sled's caller put there? Memory may be gone
 * since, but for the page that the thread is seen to use.
 */
static int is_held(uint64_t slot, uint64_t here)
{
	const struct mirror_entry *entry = mirror_entry(slot);

	if ((slot ^ here) >> 12)
		return holds_label(slot) ||
		       (!(slot & 8) && entry->address && mirror_holds(slot + 8, (uint32_t)entry->address));
	return calls_is_intercepted(slot) ||
	       (!(slot & 8) && entry->address && is_kept(entry, ((const uint64_t *)(uintptr_t)slot)[1]));
}

/* The outermost open call at or below the slot (the top is one); 0: the chain is damaged. */
static uint64_t outermost(const struct stack *stack, uint64_t slot)
{
	uint64_t at = stack->hot.top;

	for (;;) {
		if (!stack_has(stack, at))
			return 0;
		uint64_t outer = at + 8ull * mirror_entry(at)->link;
		if (outer <= at)
			return 0;
		if (outer > slot)
			return at;
		at = outer;
	}
}

/* The thread comes to a stack that another thread may have run on. */
static void take(struct thread *thread, struct stack *stack)
{
	stack->tid = thread->tid;
	stack->generation = identity_generation();
	__atomic_store_n(&stack->runner, thread, __ATOMIC_RELAXED); /* relaxed: it is compared only */
}

/* How many calls are open at or below the slot of one of them. */
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

/* The calls that were open there are another stack's. Returns the stack that `here` lies on. */
static struct stack *part(struct thread *thread, struct stack *stack, uint64_t here)
{
	static const uint64_t all_signals = ~0ull;
	struct process_held held;
	struct stack *upper = NULL;
	uint32_t kept = 0;
	uint64_t before;

	sys_set_signals(&all_signals, &before);
	process_lock(&held);
	/* A handler may have parted them in between. */
	if (here - stack->low < stack->high - stack->low && stack->hot.top <= here) {
		uint64_t slot = outermost(stack, here);
		if (slot) {
			kept = count_inside(stack, slot);
			upper = mirror_split(stack, slot, here);
		}
		if (upper) {
			filter_count(stack);
			filter_count(upper);
			take(thread, upper);
		}
	} else {
		upper = mirror_find(here);
	}
	process_unlock(&held);
	if (upper && kept)
		recorder_part(thread, stack, upper, kept);
	else if (upper)
		recorder_stack(thread, upper);
	sys_set_signals(&before, NULL);
	return upper;
}

/* Was another thread seen there last, and nowhere else since? Then calls there may begin and end at this moment. */
static int is_anothers(const struct stack *stack, const struct thread *thread)
{
	/* Relaxed: records stay; it is a guess. */
	const struct thread *runner = __atomic_load_n(&stack->runner, __ATOMIC_RELAXED);

	return runner && runner != thread && runner->tid && runner->hot.stack == &stack->hot;
}

struct stack *calls_settle(struct thread *thread, struct stack *stack, uint64_t slot)
{
	if (stack->hot.top > slot) {
		calls_unwind(thread, stack, slot); /* handlers hear of frames that had no calls */
		return stack;
	}
	uint64_t last = outermost(stack, slot);
	/*
	 * Between here and the slot no other stack's frames can be. In the slot itself a call has just begun: an older
	 * XRay call there is over, whatever its return address.
	 */
	if (last && last < (uint64_t)(uintptr_t)__builtin_frame_address(0) &&
		(is_held(last, slot) || is_anothers(stack, thread))) {
		struct stack *upper = part(thread, stack, slot);
		if (upper)
			return upper;
	}
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

	if (is_anothers(stack, thread))
		return;
	for (uint64_t outer; stack_has(stack, at); at = outer) {
		outer = at + 8ull * mirror_entry(at)->link;
		if (outer <= at)
			return;
		if (at != here && !is_held(at, here))
			gone = at;
	}
	if (gone)
		calls_unwind(thread, stack, gone);
}

/* The thread changes from one stack to another. */
static struct stack *change(struct thread *thread, struct stack *from, struct stack *to, uint64_t slot)
{
	struct process_held held;

	if (from && from->parent && from->above == to && !stack_has_calls(from) && to->hot.top == from->parent) {
		process_lock(&held);
		if (from->high && from->above == to)
			mirror_join(from, to);
		process_unlock(&held);
	}
	recorder_stack(thread, to);
	if (to->parent && stack_has_calls(to))
		look_at_parted(thread, to, slot);
	return to;
}

/*
 * A thread begins on its own stack: calls that are open there are those of an earlier thread, which is gone. But a
 * thread that forked goes on, as the child's first thread.
 */
static void begin(struct thread *thread, struct stack *stack)
{
	struct process_held held;
	int forked = stack->generation != identity_generation();

	if ((forked ? identity_pid() : stack->tid) == thread->tid || !mirror_is_own(stack))
		return;
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
	/* Relaxed: this thread stored it. */
	int known = from && stack && __atomic_load_n(&stack->runner, __ATOMIC_RELAXED) == thread;
	if (known && !thread_is_shared())
		return change(thread, from, stack, slot);
	*caller = thread_caller(thread, slot);
	if (*caller == THREAD_STRANGER)
		return NULL;
	from = (struct stack *)thread->hot.stack; /* it may have been another one's, who is gone */
	if (from && known)
		return change(thread, from, stack, slot);
	if (!stack) {
		process_lock(&held);
		stack = mirror_claim(slot, from);
		process_unlock(&held);
	}
	/*
	 * A guest's stack does not become the thread's: it may be another task's before the thread makes an event.
	 * Relaxed, as above.
	 */
	if (!stack || (*caller == THREAD_GUEST && __atomic_load_n(&stack->runner, __ATOMIC_RELAXED) != thread))
		return NULL;
	if (!from)
		begin(thread, stack);
	/* Relaxed, both: as all of the runner; readers see it in time, for these calls were begun before. */
	const void *runner = __atomic_load_n(&stack->runner, __ATOMIC_RELAXED);
	if (runner && runner != thread && stack_has_calls(stack) && process_head())
		__atomic_store_n(&process_head()->moved, 1, __ATOMIC_RELAXED);
	stack = change(thread, from, stack, slot);
	take(thread, stack);
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

int calls_is_intercepted(uint64_t slot)
{
	uint64_t word = *(const uint64_t *)(uintptr_t)slot;

	return word == (uint64_t)(uintptr_t)tramp_return_tsc || word == (uint64_t)(uintptr_t)tramp_return_mono;
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

/* Is the slot that of an open call of the stack, or its end? */
static int is_open(const struct stack *stack, uint64_t slot)
{
	uint64_t at = stack->hot.top;

	while (at < slot && stack_has(stack, at)) {
		uint64_t outer = at + 8ull * mirror_entry(at)->link;
		if (outer == at)
			return 0;
		at = outer;
	}
	return at == slot;
}

/* Is the mirror entry of slot that of the call which ends there? */
static int is_genuine(const struct stack *stack, uint64_t slot)
{
	const struct mirror_entry *entry = mirror_entry(slot);

	/*
	 * An XRay call: kept below its slot, with the return address that lies in the slot. A sled may have been
	 * switched on in the middle of the call; then the entry is that of an earlier call from the same place, and its
	 * outer call is not open any more.
	 */
	return calls_is_intercepted(slot) ||
	       (is_kept(entry, ((const uint64_t *)(uintptr_t)slot)[1]) && is_open(stack, slot + 8ull * entry->link));
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
	if (slot & 8 && calls_is_intercepted(slot) && mirror_entry(slot)->link == LINK_ENDED)
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

	if (stack)
		calls_unwind(thread, stack, stack->high - 8);
	return stack;
}

void calls_finish(void)
{
	struct process_held held;
	struct thread *thread = thread_self();

	if (thread)
		calls_unwind_all(thread);
	process_lock(&held);
	process_clock();
	/* The process of a child that shares our memory is another one. */
	if (process_head() && (confined() || identity_is_ours()))
		process_head()->flags |= TRACE_EXITED;
	process_unlock(&held);
}
