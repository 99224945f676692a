/* SPDX-License-Identifier: MIT */
#include "runtime/calls/calls_ends.h"

#include <stdbool.h>

#include "runtime/calls/calls.h"
#include "runtime/calls/calls_owner.h"
#include "runtime/calls/cyg_calls.h"
#include "runtime/process/clock.h"
#include "runtime/record/filter.h"
#include "runtime/record/recorder.h"
#include "x86_64/cpu.h"

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

/* The call at the slot, which is over: it was too short for the rules, and is taken back, or had no entry. */
static bool leaves_nothing(struct thread *thread, struct stack *stack, uint64_t slot, uint32_t word)
{
	uint64_t clock = clock_now();

	return word & (uint32_t)TRAMP_WORD_VALUES ? hooks.values_end(thread, stack, slot, word, clock)
						  : filter_take_back(thread, word, (uint32_t)clock);
}

/* Ends every open call at or below the slot, with an event of this type; handlers are told where `handled`. */
static void end_calls(struct thread *thread, struct stack *stack, uint64_t slot, enum trace_type type, int handled)
{
	uint64_t top;

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
			int told = (entry.address & CYG_CALL_MARK) != 0, ended = told && entry.address & CYG_CALL_ENDED;
			if (!told && top & 8)
				mirror_entry(top)->link = CALLS_LINK_ENDED;
			filter_left(stack, top);
			if (!ended && !leaves_nothing(thread, stack, top, entry.word))
				recorder_write(thread, stack, TRACE_WORD(type, entry.word & TRACE_ID_MASK));
			if (handled && !told)
				hooks.unwound(thread, entry.word & TRACE_ID_MASK);
		}
	}
}

void calls_end(struct thread *thread, struct stack *stack, uint64_t slot, enum trace_type type)
{
	/* Relaxed: see filter.h. */
	end_calls(thread, stack, slot, type, __atomic_load_n(&tramp_checks, __ATOMIC_RELAXED) & TRAMP_CHECK_HANDLERS);
}

void calls_end_quietly(struct thread *thread, struct stack *stack)
{
	end_calls(thread, stack, stack->high - 8, TRACE_UNWIND, 0);
}

void calls_unwind(struct thread *thread, struct stack *stack, uint64_t slot)
{
	calls_end(thread, stack, slot, TRACE_UNWIND);
}

bool calls_is_kept(const struct mirror_entry *entry, uint64_t word)
{
	return entry->address & CYG_CALL_MARK ? (entry->address & CYG_CALL_ADDRESS) == word : entry->address == word;
}

/* Where the call was left, the word beside its slot may be what a sanitizer lets nobody read. */
__attribute__((no_sanitize("address", "thread"))) bool calls_is_held(uint64_t slot, uint64_t here)
{
	const struct mirror_entry *entry = mirror_entry(slot);

	if ((slot ^ here) >> 12)
		return calls_holds_label(slot) ||
		       (!(slot & 8) && entry->address && mirror_holds(slot + 8, (uint32_t)entry->address));
	return calls_is_intercepted(slot) ||
	       (!(slot & 8) && entry->address && calls_is_kept(entry, ((const uint64_t *)(uintptr_t)slot)[1]));
}
