/* SPDX-License-Identifier: MIT */
#include "runtime/filter.h"

#include <errno.h> /* EINVAL */

#include "runtime/calls.h"
#include "runtime/chunk.h"
#include "runtime/clock.h"
#include "runtime/process.h"
#include "runtime/recorder.h"
#include "x86_64/sys.h"

/* A bit of tramp_table that the trampolines know nothing of: calls are recorded below the function. */
#define TRAMP_BELOW 2

uint32_t tramp_checks;
uint8_t tramp_table[TRAMP_TABLE_IDS] SYS_LARGE;

static struct filter_options options;
static uint64_t time_ticks;

int filter_init(const struct filter_options *wanted)
{
	options = *wanted;
	if (options.time > FILTER_TIME_MAX)
		return -EINVAL;
	if (options.time)
		time_ticks = clock_ticks(options.time);
	if (options.depth || options.time || options.below)
		tramp_checks |= TRAMP_CHECK_FILTERS;
	return 0;
}

void filter_below(uint32_t id)
{
	/* Relaxed, as all of the table: a byte that orders nothing. */
	if (id < TRAMP_TABLE_IDS)
		__atomic_fetch_or(&tramp_table[id], TRAMP_BELOW, __ATOMIC_RELAXED);
}

int filter_count_only(uint32_t id)
{
	/* Relaxed, as in filter_below(). */
	if (id >= TRAMP_TABLE_IDS ||
		__atomic_fetch_or(&tramp_table[id], TRAMP_ONLY_COUNTED, __ATOMIC_RELAXED) & TRAMP_ONLY_COUNTED)
		return 0;
	/* relaxed: who sees it late records a call more */
	__atomic_fetch_or(&tramp_checks, TRAMP_CHECK_COUNTED, __ATOMIC_RELAXED);
	return 1;
}

/* Is this a function below which calls are recorded? 0 or 1. */
static uint32_t opens(uint32_t id)
{
	/* Relaxed, as above. */
	return id < TRAMP_TABLE_IDS && __atomic_load_n(&tramp_table[id], __ATOMIC_RELAXED) & TRAMP_BELOW ? 1 : 0;
}

void filter_left(struct stack *stack, uint32_t id)
{
	if (!(tramp_checks & TRAMP_CHECK_FILTERS))
		return;
	/* Never below 0: frames may have been there before we counted (a coroutine of another thread). */
	if (stack->depth)
		stack->depth--;
	if (stack->below && opens(id))
		stack->below--;
}

void filter_count(struct stack *stack)
{
	stack->depth = stack->below = 0;
	for (uint64_t at = stack->hot.top, outer; at < stack->high; at = outer) {
		const struct mirror_entry *entry = mirror_entry(at);
		stack->depth++;
		stack->below += opens(entry->word & TRACE_ID_MASK);
		outer = at + 8ull * entry->link;
		if (outer == at)
			return;
	}
}

/*
 * Ends what is dead at or below slot, and says whether a call of this function may be recorded there. Returns the
 * stack; NULL: no.
 */
static struct stack *admit(struct stack *stack, struct thread *thread, uint64_t dead, uint32_t id)
{
	stack = calls_settle(thread, stack, dead);
	if (!stack_has_calls(stack))
		stack->depth = stack->below = 0;
	if (options.below && !stack->below && !opens(id))
		return NULL;
	if (options.depth && stack->depth >= options.depth)
		return NULL;
	return stack;
}

/* A call whose time will not be known. */
static enum tramp_answer without_end(void)
{
	if (!options.time)
		return TRAMP_AGAIN;
	PROCESS_COUNT(taken_back, 1);
	return TRAMP_POINTED;
}

static enum tramp_answer enter(uint64_t slot, uint32_t id, int has_end)
{
	struct thread *thread;
	struct stack *stack = calls_own_stack(&thread, slot);

	if (!thread)
		return TRAMP_PASS;
	if (!stack) /* depth can't be known; the trampoline will record an entry alone */
		return options.below && !opens(id) ? TRAMP_PASS : without_end();
	if (calls_is_intercepted(slot)) {
		/* A tail call of a function that is recorded: the new one takes its place, at its depth. */
		stack = calls_settle(thread, stack, slot - 8);
		if (has_end && stack->hot.top == slot)
			stack->below += opens(id) - opens(mirror_entry(slot)->word & TRACE_ID_MASK);
		return has_end ? TRAMP_AGAIN : without_end();
	}
	stack = admit(stack, thread, slot, id);
	if (!stack)
		return TRAMP_PASS;
	if (!has_end)
		return without_end();
	stack->depth++;
	stack->below += opens(id);
	return TRAMP_AGAIN;
}

static uint32_t id_below(uint64_t slot)
{
	return (uint32_t)((const uint64_t *)(uintptr_t)slot)[-1] & TRACE_ID_MASK;
}

enum tramp_answer tramp_filter_enter(uint64_t slot)
{
	return enter(slot, id_below(slot), 1);
}

enum tramp_answer tramp_filter_point(uint64_t slot)
{
	return enter(slot, id_below(slot), 0);
}

enum tramp_answer tramp_filter_enter_xray(uint64_t at)
{
	uint32_t id = *(const uint32_t *)(uintptr_t)at & TRACE_ID_MASK;
	uint64_t x = at + 40;
	struct thread *thread;
	struct stack *stack = calls_own_stack(&thread, x);

	if (!thread)
		return TRAMP_PASS;
	if (!stack)
		return options.below && !opens(id) ? TRAMP_PASS : TRAMP_AGAIN;
	stack = admit(stack, thread, x, id);
	if (!stack)
		return TRAMP_PASS;
	stack->depth++;
	stack->below += opens(id);
	return TRAMP_AGAIN;
}

/* The entry at `at` is younger than the rules' time, and the thread's last event. */
static int may_take_back(const struct thread *thread, uint64_t at, uint64_t entry, uint32_t word, uint32_t clock)
{
	const struct tramp_state *hot = &thread->hot;

	if (entry >> 32 != word || hot->cursor != at + 8)
		return 0;
	/* The event has half the clock: only in its own span or the next one is the difference what it seems. */
	return (uint32_t)(clock_now() >> 31) - hot->span <= 1 && clock - (uint32_t)entry < time_ticks;
}

int filter_take_back(struct thread *thread, uint32_t word, uint32_t clock)
{
	struct tramp_state *hot = &thread->hot;
	uint64_t outer = thread->taking, token = hot->token, cursor = hot->cursor, at = cursor - 8;

	if (!time_ticks || !chunk_has_room(hot, at) || !chunk_has_room(hot, cursor))
		return 0;
	/*
	 * From here on, who ends the chunk in a handler makes the entry another word (chunk.h), so that what is in a
	 * file by then is not taken back.
	 */
	__atomic_store_n(&thread->taking, at, __ATOMIC_RELAXED); /* relaxed: this thread's own */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);		 /* no partner thread */
	uint64_t entry = *(volatile uint64_t *)(uintptr_t)at;
	int taken = may_take_back(thread, at, entry, word, clock);
	if (taken) {
		uint64_t found = cpu_swap_one((void *)(uintptr_t)at, entry, token);
		/* The token: a forked child that is here as well came first. */
		taken = found == entry || found == token;
	}
	/* Where a handler made events behind it, the hole stays. */
	if (taken)
		cpu_swap_one(&hot->cursor, cursor, at);
	__atomic_store_n(&thread->taking, outer, __ATOMIC_RELAXED); /* relaxed, as above */
	if (taken)
		PROCESS_COUNT(taken_back, 1);
	return taken;
}

enum tramp_answer tramp_filter_leave(uint64_t slot, uint64_t clock)
{
	struct thread *thread;
	struct stack *stack = calls_own_stack(&thread, slot);

	if (!stack || stack->hot.top != slot)
		return TRAMP_AGAIN;
	const struct mirror_entry entry = *mirror_entry(slot);
	filter_left(stack, entry.word & TRACE_ID_MASK);
	if (!filter_take_back(thread, entry.word, (uint32_t)clock))
		return TRAMP_AGAIN;
	stack->hot.top = slot + 8ull * entry.link;
	return TRAMP_PASS;
}

enum tramp_answer tramp_filter_tail(uint64_t slot)
{
	struct thread *thread = thread_self();
	struct mirror_entry *entry = mirror_entry(slot);

	if (!thread || !filter_take_back(thread, entry->word, (uint32_t)clock_now()))
		return TRAMP_AGAIN;
	entry->word = (uint32_t)((const uint64_t *)(uintptr_t)slot)[-1];
	return TRAMP_PASS;
}

enum tramp_answer tramp_filter_gone(uint64_t slot)
{
	struct thread *thread;
	struct stack *stack = calls_own_stack(&thread, slot);

	return stack && stack->hot.top > slot ? TRAMP_PASS : TRAMP_AGAIN;
}
