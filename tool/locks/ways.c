/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/locks/ways.h"

#include <stdlib.h>

#include "tool/base/hash.h"
#include "tool/base/memory.h"

static int by_cost(uint64_t one, uint64_t other)
{
	return one == other ? 0 : one > other ? -1 : 1;
}

int locks_compare_places(const struct locks_place *one, const struct locks_place *other)
{
	int order = by_cost(one->wait.total, other->wait.total);

	return order ? order : by_cost(one->waited, other->waited);
}

/* Equal ones stay as the places were. */
static int order_ways(const void *one, const void *other)
{
	const struct locks_way *a = one, *b = other;
	int order = locks_compare_places(&a->sum, &b->sum);

	return order ? order : (a->place > b->place) - (a->place < b->place);
}

/* Where the caller's function begins, or, if no symbol tells it, where the call is. */
static uint64_t where(const struct xaudit_read_frame *frame)
{
	struct xaudit_read_symbol symbol;

	return xaudit_read_frame_symbol(frame, &symbol) && symbol.name ? symbol.start : frame->offset;
}

static uint32_t hash_origin(const struct locks_origin *origin)
{
	uint32_t frames = origin->stack ? origin->stack->frames : 0;
	uint32_t hash = hash_key(origin->function, frames ? 0 : origin->caller);

	for (uint32_t i = 0; i < frames; i++)
		hash = hash_key((uint64_t)hash << 32 | frames, where(origin->stack->frame[i]));
	return hash;
}

static bool are_same(const struct locks_origin *one, const struct locks_origin *other)
{
	uint32_t frames = one->stack ? one->stack->frames : 0;

	if (one->process != other->process || one->function != other->function ||
		frames != (other->stack ? other->stack->frames : 0))
		return false;
	if (!frames)
		return one->caller == other->caller;
	for (uint32_t i = 0; i < frames; i++)
		if (one->stack->frame[i]->object != other->stack->frame[i]->object ||
			where(one->stack->frame[i]) != where(other->stack->frame[i]))
			return false;
	return true;
}

static void add_sum(struct locks_sum *to, const struct locks_sum *from)
{
	to->count += from->count;
	to->total += from->total;
	to->max = to->max > from->max ? to->max : from->max;
}

static void add(struct locks_place *to, const struct locks_place *from)
{
	to->calls += from->calls;
	add_sum(&to->wait, &from->wait);
	add_sum(&to->hold, &from->hold);
	to->waited += from->waited;
	to->several |= from->several || to->lock != from->lock;
}

struct locks_way *locks_ways(const struct locks_reading *reading, const uint32_t *place, uint32_t places,
	uint32_t *ways)
{
	struct locks_way *way = memory_zeroed(places + 1, sizeof(*way));
	struct hash by_way = { 0 };

	*ways = 0;
	for (uint32_t i = 0; i < places; i++) {
		const struct locks_origin *origin = &reading->place[place[i]];
		uint32_t hash = hash_origin(origin);
		uint32_t found = HASH_FIND(k, &by_way, hash, are_same(&reading->place[way[k].place], origin));
		if (found != HASH_NONE) {
			add(&way[found].sum, &reading->locks.place[place[i]]);
			continue;
		}
		way[*ways] = (struct locks_way){ place[i], reading->locks.place[place[i]] };
		memory_hash(&by_way, hash, (*ways)++);
	}
	hash_free(&by_way);
	qsort(way, *ways, sizeof(*way), order_ways);
	return way;
}
