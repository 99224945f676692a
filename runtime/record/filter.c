/* SPDX-License-Identifier: MIT */
#include "runtime/record/filter.h"

#include <errno.h> /* EINVAL */
#include <stdbool.h>

#include "runtime/process/clock.h"
#include "runtime/process/process_counters.h"
#include "runtime/record/chunk.h"
#include "x86_64/sys.h"

uint32_t tramp_checks;
uint8_t tramp_table[TRAMP_TABLE_IDS] SYS_LARGE;

struct filter_options filter_options;
static uint64_t time_ticks;

int filter_init(const struct filter_options *wanted)
{
	filter_options = *wanted;
	if (wanted->time > FILTER_TIME_MAX)
		return -EINVAL;
	if (wanted->time)
		time_ticks = clock_ticks(wanted->time);
	if (wanted->depth || wanted->time || wanted->below)
		tramp_checks |= TRAMP_CHECK_FILTERS;
	return 0;
}

uint64_t filter_ticks(void)
{
	return time_ticks;
}

void filter_below(uint32_t id)
{
	/* Relaxed, as all of the table: a byte that orders nothing. */
	if (id < TRAMP_TABLE_IDS)
		__atomic_fetch_or(&tramp_table[id], FILTER_BELOW, __ATOMIC_RELAXED);
}

bool filter_count_only(uint32_t id)
{
	/* Relaxed, as in filter_below(). */
	if (id >= TRAMP_TABLE_IDS ||
		__atomic_fetch_or(&tramp_table[id], TRAMP_ONLY_COUNTED, __ATOMIC_RELAXED) & TRAMP_ONLY_COUNTED)
		return false;
	/* relaxed: a thread that sees it late records a call more */
	__atomic_fetch_or(&tramp_checks, TRAMP_CHECK_COUNTED, __ATOMIC_RELAXED);
	return true;
}

void filter_starts(uint32_t id, bool may)
{
	if (id >= TRAMP_TABLE_IDS)
		return;
	if (may)
		__atomic_fetch_or(&tramp_table[id], TRAMP_STARTS, __ATOMIC_RELAXED); /* relaxed, as in filter_below() */
	else
		__atomic_fetch_and(&tramp_table[id], (uint8_t)~TRAMP_STARTS, __ATOMIC_RELAXED); /* relaxed, too */
}

void filter_mute(struct thread *thread, bool is)
{
	/* Relaxed, both: this thread's own; others ask for nothing. */
	__atomic_store_n(&thread->muted, is, __ATOMIC_RELAXED);
	if (is)
		__atomic_fetch_or(&tramp_checks, TRAMP_CHECK_FILTERS | TRAMP_CHECK_MUTED, __ATOMIC_RELAXED);
}

void filter_count(struct stack *stack)
{
	const uint64_t opener = stack->opener;

	if (!stack_has(stack, opener))
		stack->tailed = 0;
	stack->opener = stack->tailed ? opener : 0;
	stack->depth = 0;
	for (uint64_t at = stack->hot.top, outer; at < stack->high; at = outer) {
		const struct mirror_entry *entry = mirror_entry(at);
		stack->depth++;
		if (at == opener || filter_opens(entry->word & TRACE_ID_MASK))
			stack->opener = at;
		outer = at + 8ull * entry->link;
		if (outer == at)
			return;
	}
}

/* The entry at `at` is younger than the rules' time, and the thread's last event. */
static bool may_take_back(const struct thread *thread, uint64_t at, uint64_t entry, uint32_t word, uint32_t clock)
{
	const struct tramp_state *hot = &thread->hot;

	if (entry >> 32 != word || hot->cursor != at + 8)
		return false;
	/* The event has half the clock: the difference is right only in the event's own span or the next one. */
	return (uint32_t)(clock_now() >> 31) - hot->span <= 1 && clock - (uint32_t)entry < time_ticks;
}

bool filter_take_back(struct thread *thread, uint32_t word, uint32_t clock)
{
	struct tramp_state *hot = &thread->hot;
	uint64_t outer = thread->taking, token = hot->token, cursor = hot->cursor, at = cursor - 8;

	if (!time_ticks || !chunk_has_room(hot, at) || !chunk_has_room(hot, cursor))
		return false;
	/*
	 * From here on, a handler that ends the chunk changes the entry's word (chunk.h), so that an entry which is in
	 * a file by then is not taken back.
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
	/* If a handler made events after the entry, the hole stays. */
	if (taken)
		cpu_swap_one(&hot->cursor, cursor, at);
	__atomic_store_n(&thread->taking, outer, __ATOMIC_RELAXED); /* relaxed, as above */
	if (taken)
		PROCESS_COUNT(taken_back, 1);
	return taken;
}
