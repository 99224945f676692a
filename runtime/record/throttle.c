/* SPDX-License-Identifier: MIT */
#include "runtime/record/throttle.h"

#include <sys/mman.h> /* PROT_READ */

#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "runtime/record/filter.h"
#include "x86_64/sys.h"

#define SHORT_NS 200
/*
 * Of each STRIDE words the first ones are looked at: the share is estimated, since reading all of a chunk would cost a
 * tenth of writing it.
 */
#define STRIDE 512
#define SAMPLE 64
#define TALLY  256 /* functions; more can't each fill a percent and a half */

static unsigned percent;

/* Process lock. */
static struct tally {
	uint32_t id, words;
} tally[TALLY] SYS_LARGE;

void throttle_init(unsigned wanted)
{
	percent = wanted;
	if (percent)
		clock_ticks(SHORT_NS); /* begins its measurement */
}

/* A short call of the function fills so many words. */
static void add(uint32_t id, uint64_t words)
{
	for (uint32_t i = 0; i < 8; i++) {
		struct tally *t = &tally[((id * 2654435761u >> 24) + i) % TALLY];
		if (t->words && t->id != id)
			continue;
		t->id = id;
		t->words += (uint32_t)words;
		return;
	}
}

static uint32_t *layouts; /* TRACE_WORD() of each; NULL: none is known. Process lock */

void throttle_layout(uint32_t layout, uint32_t event)
{
	if (!percent)
		return;
	if (!layouts) {
		void *made = sys_mmap(NULL, (TRACE_LAYOUT_MAX + 1) * sizeof(*layouts), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		layouts = sys_is_error(made) ? NULL : made;
	}
	if (layouts)
		layouts[layout] = event;
}

/* The event's word, whether it has values or not. */
static uint32_t word_of(uint64_t event)
{
	if (TRACE_TYPE_OF(event) != TRACE_VALUED)
		return (uint32_t)(event >> 32);
	return layouts ? layouts[TRACE_VALUED_LAYOUT(TRACE_ID_OF(event))] : 0;
}

void throttle_look(const struct trace_chunk *chunk, uint64_t size)
{
	struct process_held held;

	if (!percent)
		return;
	process_lock(&held);
	const uint64_t *event = (const uint64_t *)(chunk + 1);
	uint64_t words = (size - sizeof(*chunk)) / 8, looked = 0;
	uint32_t limit = (uint32_t)clock_ticks(SHORT_NS);

	sys_fill(tally, 0, sizeof(tally));
	for (uint64_t at = 0; at + SAMPLE < words; at += STRIDE) {
		looked += SAMPLE;
		for (uint64_t i = at; i < at + SAMPLE; i++) {
			uint32_t word = word_of(event[i]), id = word & TRACE_ID_MASK;
			uint64_t next = i + 1 + TRACE_PAYLOAD_OF(event[i]);
			if (word >> TRACE_ID_BITS == TRACE_ENTRY && next < words &&
				word_of(event[next]) == TRACE_WORD(TRACE_EXIT, id) &&
				(uint32_t)event[next] - (uint32_t)event[i] < limit)
				add(id, next + 1 + TRACE_PAYLOAD_OF(event[next]) - i);
		}
	}
	for (uint32_t i = 0; i < TALLY; i++)
		if (tally[i].words && tally[i].words * 100ull >= looked * percent && filter_count_only(tally[i].id))
			process_change(TRACE_CHANGE_THROTTLED, tally[i].id, NULL);
	process_unlock(&held);
}
