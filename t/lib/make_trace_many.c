/* SPDX-License-Identifier: MIT */
/* The commands of make_trace that write many events. */
#include "t/lib/make_trace.h"
#include "t/lib/random.h"

#define DEPTH_MAX 1024

static uint64_t state;

void put_random(uint64_t seed, uint64_t events, uint64_t ids, uint64_t depth_max)
{
	static uint32_t open[DEPTH_MAX];
	unsigned depth = 0;
	uint64_t time = last_time + 1000;

	state = seed * 0x9e3779b97f4a7c15u + 1;
	if (depth_max > DEPTH_MAX || !ids)
		fail("depth or number of ids");
	for (uint64_t left = events; left; left--) {
		uint64_t r = random_number(&state);
		time += 20 + (r & 127);
		bool enter = depth < depth_max && depth < left && (!depth || (r >> 40 & 1));
		if (enter) {
			/* A few functions are called often, many rarely. */
			uint64_t id = r >> 41 & 3 ? (r >> 16) % (ids / 8 + 1) : (r >> 16) % ids;
			open[depth++] = (uint32_t)id + 1;
			put_event(TRACE_ENTRY, open[depth - 1], time);
		} else {
			put_event(TRACE_EXIT, open[--depth], time);
		}
	}
}

void put_nest(uint64_t rounds, uint64_t ids, uint64_t ticks)
{
	uint64_t time = last_time;

	for (; rounds; rounds--) {
		for (uint64_t id = 1; id <= ids; id++)
			put_event(TRACE_ENTRY, (uint32_t)id, time += ticks);
		for (uint64_t id = ids; id; id--)
			put_event(TRACE_EXIT, (uint32_t)id, time += ticks);
	}
}
