/* SPDX-License-Identifier: MIT */
/* The commands of make_trace that write many events. */
#include <string.h>

#include "t/lib/make_trace.h"
#include "t/lib/random.h"

#define DEPTH_MAX 1024

static uint64_t state;

static void put_random(uint64_t seed, uint64_t events, uint64_t ids, uint64_t depth_max)
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

/* Requests of some 500 events: functions of one name call the same few others, so there are not all paths. */
static void put_work(uint64_t seed, uint64_t events, uint64_t ids, uint64_t depth_max)
{
	static uint32_t open[DEPTH_MAX];
	unsigned depth = 0;
	uint64_t time = last_time + 1000, request = 0;

	state = seed * 0x9e3779b97f4a7c15u + 1;
	if (depth_max < 3 || depth_max > DEPTH_MAX || ids < 16)
		fail("depth or number of ids");
	for (uint64_t left = events; left; left--) {
		uint64_t r = random_number(&state);
		/* One in 2048 waits for something. */
		time += 20 + (r & 63) + (r >> 8 & 2047 ? 0 : r >> 40 & 0x1ffff);
		bool enter = depth < depth_max && depth < left &&
			(depth < 2 || (depth == 2 && request) || (r >> 40 & 1));
		if (enter) {
			uint32_t caller = depth ? open[depth - 1] : 0;
			request = depth == 1 ? 500 : request ? request - 1 : 0;
			/* One is the thread's own, up to 8 are requests. */
			uint64_t id = depth == 0 ? 0 : depth == 1 ? 1 + (r >> 20 & 7) :
				9 + (caller * 11 + (r >> 20 & 3) * (r >> 22 & 1)) % (ids - 9);
			open[depth++] = (uint32_t)id + 1;
			put_event(TRACE_ENTRY, open[depth - 1], time);
		} else {
			request = request ? request - 1 : 0;
			put_event(TRACE_EXIT, open[--depth], time);
		}
	}
}

static void put_nest(uint64_t rounds, uint64_t ids, uint64_t ticks)
{
	uint64_t time = last_time;

	for (; rounds; rounds--) {
		for (uint64_t id = 1; id <= ids; id++)
			put_event(TRACE_ENTRY, (uint32_t)id, time += ticks);
		for (uint64_t id = ids; id; id--)
			put_event(TRACE_EXIT, (uint32_t)id, time += ticks);
	}
}

bool many_is(char **word, int words)
{
	return (words == 5 && (!strcmp(word[0], "random") || !strcmp(word[0], "work"))) ||
	       (words == 4 && !strcmp(word[0], "nest"));
}

void many_put(char **word)
{
	uint64_t a = number(word[1]), b = number(word[2]), c = number(word[3]);

	if (!strcmp(word[0], "random"))
		put_random(a, b, c, number(word[4]));
	else if (!strcmp(word[0], "work"))
		put_work(a, b, c, number(word[4]));
	else
		put_nest(a, b, c);
}
