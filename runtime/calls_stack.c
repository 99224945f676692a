/* SPDX-License-Identifier: MIT */
/* Ends of calls that are gone; which stack a thread is on, and whose the open calls are that it finds there. */
#include "runtime/calls.h"

#include "runtime/clock.h"
#include "runtime/filter.h"
#include "runtime/identity.h"
#include "runtime/process.h"
#include "runtime/recorder.h"
#include "runtime/thread.h"
#include "runtime/told.h"
#include "runtime/waits.h"
#include "x86_64/confined.h"
#include "x86_64/cpu.h"
#include "x86_64/labels.h"
#include "x86_64/sys.h"

static struct calls_hooks hooks;

void calls_init(const struct calls_hooks *given)
{
	hooks = *given;
}

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
				mirror_entry(top)->link = CALLS_LINK_ENDED;
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

int calls_is_kept(const struct mirror_entry *entry, uint64_t word)
{
	return entry->address & TOLD_MARK ? (entry->address & TOLD_ADDRESS) == word : entry->address == word;
}

int calls_is_intercepted(uint64_t slot)
{
	return labels_is_any(*(const uint64_t *)(uintptr_t)slot);
}

/*
 * calls_is_intercepted() for memory that may be gone at any moment, by the lower halves of the labels: no other address
 * on a stack has such a lower half.
 */
static int holds_label(uint64_t slot)
{
	const uint64_t own = labels_are_mapped() ? labels_find(mirror_entry(slot)->address) : 0;

	return (own && mirror_holds(slot, (uint32_t)own)) ||
	       mirror_holds(slot, (uint32_t)(uintptr_t)tramp_return_tsc) ||
	       (clock_source() != TRACE_CLOCK_TSC && mirror_holds(slot, (uint32_t)(uintptr_t)tramp_return_mono));
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
	       (!(slot & 8) && entry->address && calls_is_kept(entry, ((const uint64_t *)(uintptr_t)slot)[1]));
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The outermost open call at or below the slot; 0: the chain is damaged, or there is none any more. */
static uint64_t outermost(const struct stack *stack, uint64_t slot)
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

/* ---- whose a stack is ---- */

#define ROUNDS 8 /* more of them come only where threads come at the same moment again and again */

/* What a thread is on after another one came to its stack: no event finds its place there. */
static struct stack nobodys = { .hot = { .low = ~0ull } };

static const struct thread *runner_of(const struct stack *stack)
{
	return __atomic_load_n(&stack->runner, __ATOMIC_RELAXED); /* relaxed: come() says what is ordered */
}

/* Another thread's record: are its events on the stack? */
static int is_on(const struct thread *other, const struct stack *stack)
{
	/* Relaxed, both: records stay; and as above. */
	return __atomic_load_n(&other->tid, __ATOMIC_RELAXED) &&
	       __atomic_load_n(&other->hot.stack, __ATOMIC_RELAXED) == &stack->hot;
}

/* Was another thread seen there last, and nowhere else since? Then calls there may begin and end at this moment. */
static int is_anothers(const struct stack *stack, const struct thread *thread)
{
	const struct thread *runner = runner_of(stack);

	return runner && runner != thread && is_on(runner, stack);
}

/* The other thread's next event looks for its stack again. */
static void send_away(const struct thread *other, struct stack *stack)
{
	struct tramp_stack *expected = &stack->hot;

	/* Relaxed, both: it sees it with its next event, or the one after that. */
	__atomic_compare_exchange_n((struct tramp_stack **)(uintptr_t)&other->hot.stack, &expected, &nobodys.hot, 0,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/*
 * Parts the stack: calls up to `slot` stay, and go on in the part below `from`; see mirror_split(). How many stay, and
 * how many go, is told. Lock held. Returns the upper part, of this thread.
 */
static struct stack *part_at(struct stack *stack, uint64_t slot, uint64_t from, const struct thread *thread,
	uint32_t *kept, uint32_t *around)
{
	uint64_t top = slot ? slot : stack->hot.top;

	*kept = slot ? count_inside(stack, slot) : 0;
	/* The innermost of all is around those that stay, if none does. */
	*around = stack_has(stack, top) ? count_around(stack, top) + !slot : 0;

	struct stack *upper = mirror_split(stack, slot, from);
	if (!upper)
		return NULL;
	filter_count(stack);
	filter_count(upper);
	upper->tid = thread->tid;
	upper->generation = identity_generation();
	__atomic_store_n(&upper->runner, thread, __ATOMIC_RELAXED); /* relaxed: nobody is there yet */
	return upper;
}

/*
 * Calls that are open at or below the limit are another stack's; of `other`, if that is not NULL, which is on it now.
 * Returns the stack that `here` lies on, above the limit; NULL: it can't be parted.
 */
static struct stack *part(
	struct thread *thread, struct stack *stack, uint64_t limit, uint64_t here, const struct thread *other)
{
	static const uint64_t all_signals = ~0ull;
	struct process_held held;
	struct stack *upper = NULL;
	uint32_t kept = 0, around = 0;
	uint64_t before;

	sys_set_signals(&all_signals, &before);
	process_lock(&held);
	/* A handler, or another thread, may have parted them in between. */
	if (stack_has(stack, here) && stack->hot.top <= limit) {
		uint64_t slot = !other || is_on(other, stack) ? outermost(stack, limit) : 0;
		if (slot)
			upper = part_at(stack, slot, mirror_border(slot, here), thread, &kept, &around);
	} else {
		upper = mirror_find(here);
	}
	process_unlock(&held);
	if (upper && kept && other)
		recorder_part_outer(thread, stack, upper, kept, around);
	else if (upper && kept)
		recorder_part(thread, stack, upper, kept);
	else if (upper && !other)
		recorder_stack(thread, upper);
	sys_set_signals(&before, NULL);
	return upper;
}

/*
 * The other thread is on the stack, and waits with its stack pointer at sp: so it is on another one than this thread,
 * which comes to the slot. No call is open below that. Returns the stack that the slot lies on then; NULL: it can't be
 * parted.
 */
static struct stack *part_from(
	struct thread *thread, struct stack *stack, uint64_t slot, const struct thread *other, uint64_t sp)
{
	static const uint64_t all_signals = ~0ull;
	struct process_held held;
	struct stack *upper = NULL;
	uint32_t kept = 0, around = 0;
	uint64_t before, low = least(slot, sp), high = slot < sp ? sp : slot;

	sys_set_signals(&all_signals, &before);
	process_lock(&held);
	if (stack_has(stack, slot) && stack_has(stack, sp) && stack->hot.top >= slot && is_on(other, stack)) {
		/* Between sp and the slot, calls are this thread's. */
		uint64_t last = slot < sp && stack->hot.top < sp ? outermost(stack, sp) : 0;
		low = last ? last : low;
		uint64_t middle = low + (high - low) / 2, page = middle & ~4095ul;
		stack->asked = 0;
		upper = part_at(stack, last, page > low ? page : (middle & ~7ul) + 8, slot < sp ? other : thread, &kept,
			&around);
	}
	process_unlock(&held);
	if (upper) {
		if (slot > sp || around)
			recorder_part_outer(thread, stack, upper, kept, around);
		if (slot < sp) {
			send_away(other, stack);
			recorder_stack(thread, stack);
			upper = stack;
		}
	}
	sys_set_signals(&before, NULL);
	return upper;
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
	return sp && stack_has(stack, sp) ? part_from(thread, stack, slot, other, sp) : NULL;
}

struct stack *calls_settle(struct thread *thread, struct stack *stack, uint64_t slot)
{
	/*
	 * Between here and the slot no other stack's frames can be. In the slot itself a call has just begun: an older
	 * XRay call there is over, whatever its return address.
	 */
	const uint64_t below = least(slot, (uint64_t)(uintptr_t)__builtin_frame_address(0)) - 8;
	/* A call in between is over, with what it called. */
	int is_left = stack->hot.top <= slot && outermost(stack, slot) > below && !is_anothers(stack, thread);

	for (int round = 0; !is_left && stack->hot.top <= below; round++) {
		uint64_t last = outermost(stack, below);
		if (!last || !(is_held(last, slot) || is_anothers(stack, thread)))
			break;
		struct stack *upper = part(thread, stack, below, slot, NULL);
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
static void change(struct thread *thread, struct stack *from, struct stack *to)
{
	struct process_held held;

	if (from && from->parent && from->above == to && !stack_has_calls(from) && to->hot.top == from->parent) {
		process_lock(&held);
		if (from->high && from->above == to && runner_of(from) == thread)
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
	int alone = 1, known = 1;

	for (int round = 0; round < ROUNDS; round++) {
		const void *expected = other = runner_of(stack);
		if (other != thread)
			known = 0;
		/* Relaxed: readers see it in time, for these calls were begun before. */
		if (other && other != thread && stack_has_calls(stack) && process_head())
			__atomic_store_n(&process_head()->moved, 1, __ATOMIC_RELAXED);
		/*
		 * A full barrier; pairs with the fence below. Not while the other one is there: a third one that comes
		 * has to see it.
		 */
		if (other != thread && !(other && is_on(other, stack)) &&
			!__atomic_compare_exchange_n(
				&stack->runner, &expected, thread, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			continue;
		if (other && other != thread && is_on(other, stack)) {
			struct stack *found = stack->hot.top <= below
						      ? part(thread, stack, below, slot, other)
						      : part_if_waits(thread, stack, slot, other);
			int is_apart = found && found != stack;
			if (!is_apart)
				send_away(other, stack);
			/*
			 * The part that it was found on stays the other one's; what is not parted does not. A full
			 * barrier; pairs with the fence below, of the other one, which may have come back in between
			 * as the runner: then it is sent away once more.
			 */
			expected = is_apart ? thread : other;
			__atomic_compare_exchange_n(&stack->runner, &expected, is_apart ? other : thread, 0,
				__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
			if (!is_apart)
				send_away(other, stack);
			alone = 0;
			stack = found ? found : stack;
		}
		change(thread, from, stack);
		/* Pairs with both exchanges above: of two threads that come at once, one at least sees the other. */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (runner_of(stack) == thread)
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
	 * Not where a stack only grew: a call that a handler came into the middle of has no label yet, but is open.
	 */
	if (alone && from != stack && stack->parent && stack_has_calls(stack))
		look_at_parted(thread, stack, slot);
	return stack;
}

/*
 * A thread begins on its own stack: calls that are open there are those of an earlier thread, which is gone. But a
 * thread that forked goes on, as the child's first thread.
 */
static void begin(struct thread *thread, struct stack *stack)
{
	struct process_held held;
	const struct thread *runner = runner_of(stack);
	int forked = stack->generation != identity_generation();

	if ((forked ? identity_pid() : stack->tid) == thread->tid || !mirror_is_own(stack))
		return;
	/* One that ended by the system call alone is there still, as its record says. */
	if (runner && runner != thread && is_on(runner, stack) &&
		(confined() || !identity_thread_is_gone(runner->tid)))
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
	int known = from && stack && runner_of(stack) == thread;
	if (known && !thread_is_shared())
		return come(thread, from, stack, slot);
	*caller = thread_caller(thread, slot);
	if (*caller == THREAD_STRANGER)
		return NULL;
	from = (struct stack *)thread->hot.stack; /* it may have been another one's, who is gone */
	if (from && known)
		return come(thread, from, stack, slot);
	if (!stack) {
		process_lock(&held);
		stack = mirror_claim(slot, from, thread);
		process_unlock(&held);
	}
	/*
	 * A guest's stack does not become the thread's: it may be another task's before the thread makes an event.
	 */
	if (!stack || (*caller == THREAD_GUEST && runner_of(stack) != thread))
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
