/* SPDX-License-Identifier: MIT */
/* What trampolines ask where the rules have filters (x86_64/contract.h): may a call be recorded, and is it to stay? */
#include "runtime/calls/calls_owner.h"
#include "runtime/calls/calls_stack.h"
#include "runtime/process/clock.h"
#include "runtime/process/process_counters.h"
#include "runtime/record/filter.h"
#include "runtime/calls/values_calls.h"

/*
 * Ends what is dead at or below slot, and says whether a call of this function may be recorded there. Returns the
 * stack; NULL: no.
 */
static struct stack *admit(struct stack *stack, struct thread *thread, uint64_t slot, uint32_t id)
{
	stack = calls_settle(thread, stack, slot);
	return filter_admits(stack, slot, id) ? stack : NULL;
}

/* Is nothing recorded of the thread? What may change that asks once more, with its registers. */
static bool is_left_out(const struct thread *thread, uint32_t id)
{
	return thread_is_muted(thread) && !filter_may_start(id);
}

/* A call whose time will not be known. */
static enum tramp_answer without_end(void)
{
	if (!filter_options.time)
		return TRAMP_AGAIN;
	PROCESS_COUNT(taken_back, 1);
	return TRAMP_POINTED;
}

static enum tramp_answer enter(uint64_t slot, uint32_t id, int has_end)
{
	struct thread *thread;
	struct stack *stack = calls_own_stack(&thread, slot);

	if (!thread || is_left_out(thread, id))
		return TRAMP_PASS;
	if (!stack) /* depth can't be known; the trampoline will record it entry-only */
		return filter_options.below && !filter_opens(id) ? TRAMP_PASS : without_end();
	if (calls_is_intercepted(slot)) {
		/* A tail call by a function that is recorded: the new call takes its place, at its depth. */
		stack = calls_settle(thread, stack, slot - 8);
		if (has_end && stack->hot.top == slot && !filter_is_below(stack, slot))
			filter_opened(stack, slot, id);
		return has_end ? TRAMP_AGAIN : without_end();
	}
	stack = admit(stack, thread, slot, id);
	if (!stack)
		return TRAMP_PASS;
	if (!has_end)
		return without_end();
	stack->depth++;
	filter_opened(stack, slot, id);
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

	if (!thread || is_left_out(thread, id))
		return TRAMP_PASS;
	if (!stack)
		return filter_options.below && !filter_opens(id) ? TRAMP_PASS : TRAMP_AGAIN;
	stack = admit(stack, thread, x, id);
	if (!stack)
		return TRAMP_PASS;
	stack->depth++;
	filter_opened(stack, x, id);
	return TRAMP_AGAIN;
}

enum tramp_answer tramp_filter_leave(uint64_t slot, uint64_t clock)
{
	struct thread *thread;
	struct stack *stack = calls_own_stack(&thread, slot);

	if (!stack || stack->hot.top != slot)
		return TRAMP_AGAIN;
	const struct mirror_entry entry = *mirror_entry(slot);
	filter_left(stack, slot);
	/* Of a call whose values are recorded, tramp_values_leave() looks at the time. */
	if (entry.word & (uint32_t)TRAMP_WORD_VALUES || !filter_take_back(thread, entry.word, (uint32_t)clock))
		return TRAMP_AGAIN;
	stack->hot.top = slot + 8ull * entry.link;
	return TRAMP_PASS;
}

enum tramp_answer tramp_filter_tail_xray(uint64_t x, uint64_t clock)
{
	struct thread *thread = thread_self();
	struct stack *stack = thread ? (struct stack *)thread->hot.stack : NULL;
	int is_opener = stack && stack->hot.top == x && stack->opener == x && !stack->tailed;
	enum tramp_answer answer = tramp_filter_leave(x, clock);

	if (is_opener) {
		stack->opener = x;
		stack->tailed = filter_return(x);
	}
	return answer;
}

enum tramp_answer tramp_filter_tail(uint64_t slot)
{
	struct thread *thread;
	struct stack *stack = calls_own_stack(&thread, slot);
	struct mirror_entry *entry = mirror_entry(slot);

	if (!stack)
		return TRAMP_AGAIN;
	if (entry->word & (uint32_t)TRAMP_WORD_VALUES
			? !values_end(thread, stack, slot, entry->word, clock_now())
			: !filter_take_back(thread, entry->word, (uint32_t)clock_now()))
		return TRAMP_AGAIN;
	entry->word = (uint32_t)((const uint64_t *)(uintptr_t)slot)[-1];
	return TRAMP_PASS;
}

enum tramp_answer tramp_filter_probe(uint64_t word)
{
	const struct thread *thread = thread_self();

	return thread && is_left_out(thread, (uint32_t)word & TRACE_ID_MASK) ? TRAMP_PASS : TRAMP_AGAIN;
}

enum tramp_answer tramp_filter_gone(uint64_t slot)
{
	struct thread *thread;
	struct stack *stack = calls_own_stack(&thread, slot);

	return stack && stack->hot.top > slot ? TRAMP_PASS : TRAMP_AGAIN;
}
