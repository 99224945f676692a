/* SPDX-License-Identifier: MIT */
#include "runtime/record/throttle.h"

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

static void add(uint32_t id)
{
	for (uint32_t i = 0; i < 8; i++) {
		struct tally *t = &tally[((id * 2654435761u >> 24) + i) % TALLY];
		if (t->words && t->id != id)
			continue;
		t->id = id;
		t->words += 2;
		return;
	}
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
			uint32_t id = TRACE_ID_OF(event[i]);
			if (TRACE_TYPE_OF(event[i]) == TRACE_ENTRY &&
				event[i + 1] >> 32 == TRACE_WORD(TRACE_EXIT, id) &&
				(uint32_t)event[i + 1] - (uint32_t)event[i] < limit)
				add(id);
		}
	}
	for (uint32_t i = 0; i < TALLY; i++)
		if (tally[i].words && tally[i].words * 100ull >= looked * percent && filter_count_only(tally[i].id))
			process_change(TRACE_CHANGE_THROTTLED, tally[i].id, NULL);
	process_unlock(&held);
}
