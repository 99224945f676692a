/* SPDX-License-Identifier: MIT */
#include "tool/locks/meanwhile.h"

#include <string.h>

#include "tool/base/memory.h"
#include "tool/locks/model.h"

#define DEEPEST 64 /* calls with more around them are not looked at */

/* A call, and what was longest in it if that has at least half of its time. */
static void put(struct locks_path *to, uint32_t function, uint64_t time, uint64_t longest, const struct locks_path *in)
{
	to->function[0] = function;
	to->functions = 1;
	if (!longest || longest < time - longest)
		return;
	uint32_t more = in->functions < LOCKS_PATH_MOST ? in->functions : LOCKS_PATH_MOST - 1;
	memcpy(to->function + 1, in->function, more * sizeof(*in->function));
	to->functions += more;
}

static void offer(struct locks_hold *hold, uint64_t time, const struct locks_path *path)
{
	if (time <= hold->busiest)
		return;
	hold->busiest = time;
	hold->path = *path;
}

void meanwhile_enter(struct locks *locks, uint32_t thread, uint32_t depth, uint32_t function, uint64_t time)
{
	struct locks_thread *t = &locks->thread[thread];

	t->depth = depth + 1;
	if (depth >= DEEPEST)
		return;
	if (depth >= t->slots) {
		uint32_t slots = depth + 8;
		t->slot = memory_resize(t->slot, slots, sizeof(*t->slot));
		memset(t->slot + t->slots, 0, (slots - t->slots) * sizeof(*t->slot));
		t->slots = slots;
	}
	t->slot[depth].start = time;
	t->slot[depth].function = function;
	t->slot[depth].longest = 0;
}

void meanwhile_leave(struct locks *locks, uint32_t thread, uint32_t depth, uint64_t time)
{
	struct locks_thread *t = &locks->thread[thread];
	struct locks_path path;

	t->depth = depth;
	/* A call that began in a hold ends in it; else the hold ended first, and meanwhile_release() took the call. */
	if (depth >= t->slots || t->hold_first == LOCKS_NONE)
		return;
	const struct locks_slot *slot = &t->slot[depth];
	uint64_t took = time - slot->start;
	put(&path, slot->function, took, slot->longest, &slot->path);
	if (depth && took > t->slot[depth - 1].longest) {
		t->slot[depth - 1].longest = took;
		t->slot[depth - 1].path = path;
	}
	for (uint32_t i = t->hold_first; i != LOCKS_NONE; i = locks->hold[i].next_of_thread)
		if (locks->hold[i].since <= slot->start)
			offer(&locks->hold[i], took, &path);
}

void meanwhile_release(struct locks *locks, struct locks_hold *hold, uint64_t now)
{
	const struct locks_thread *t = &locks->thread[hold->thread];
	struct locks_path path = { { 0 }, 0 };
	uint64_t longest = 0;

	for (uint32_t depth = t->depth < t->slots ? t->depth : t->slots; depth--;) {
		const struct locks_slot *slot = &t->slot[depth];
		if (slot->start < hold->since)
			break;
		const struct locks_path in = longest > slot->longest ? path : slot->path;
		if (slot->longest > longest)
			longest = slot->longest;
		put(&path, slot->function, now - slot->start, longest, &in);
		longest = now - slot->start;
	}
	offer(hold, longest, &path);
}
