/* SPDX-License-Identifier: MIT */
#include "tool/alloc/timeline.h"

static void halve(struct alloc_timeline *timeline)
{
	struct alloc_step *step = timeline->step;
	uint32_t steps = (timeline->steps + 1) / 2;

	for (uint32_t i = 0; i < steps; i++) {
		struct alloc_step both = step[2 * i];
		if (2 * i + 1 < timeline->steps) {
			const struct alloc_step *next = &step[2 * i + 1];
			both.peak = next->peak > both.peak ? next->peak : both.peak;
			both.calls += next->calls;
			both.bytes += next->bytes;
		}
		step[i] = both;
	}
	timeline->steps = steps;
	timeline->length *= 2;
}

/* The step of that time, which is the last one. What is of an earlier one, as clocks differ, counts in the last. */
static struct alloc_step *step_of(struct alloc_timeline *timeline, uint64_t time)
{
	if (time < timeline->next)
		return &timeline->step[timeline->steps - 1];
	if (!timeline->length) {
		timeline->begin = time;
		timeline->length = ALLOC_STEP_FIRST;
	}
	uint64_t after = time > timeline->begin ? time - timeline->begin : 0;
	while (after / timeline->length >= ALLOC_STEPS)
		halve(timeline);
	while (timeline->steps <= after / timeline->length)
		timeline->step[timeline->steps++] = (struct alloc_step){ .peak = timeline->live };
	timeline->next = timeline->begin + timeline->steps * timeline->length;
	return &timeline->step[timeline->steps - 1];
}

void alloc_timeline_set(
	struct alloc_timeline *timeline, uint64_t time, uint64_t live, uint64_t calls, uint64_t bytes)
{
	struct alloc_step *step = step_of(timeline, time);

	timeline->live = live;
	step->calls += calls;
	step->bytes += bytes;
	if (live > step->peak)
		step->peak = live;
}
