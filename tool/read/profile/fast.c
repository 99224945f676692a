/* SPDX-License-Identifier: MIT */
#include "tool/read/profile/fast.h"

#include <string.h>

#include "tool/read/events/ahead.h"
#include "x86_64/cpu.h"

#define likely(x)   read_likely(x)
#define unlikely(x) read_unlikely(x)

#define PAGE_MASK ((1u << READ_COUNT_PAGE_BITS) - 1)

/*
 * Words that are taken before the calls that ended in them are added to their rows: rows and histograms are in no near
 * cache, and in a loop of their own, without branches that can't be foreseen, many of these accesses overlap.
 */
#define RUN 256
_Static_assert(RUN == READ_AHEAD_RUN, "a run that is shorter has an end");

/* A call that ended. */
struct ended {
	uint64_t time, self;
	uint64_t row;
};

/* A run, from whose words is found what is rarely needed. */
struct run {
	const uint64_t *words;
	uint64_t time, now; /* of the decoder, before them */
};

/* The moment of the run's end number n. */
static uint64_t moment_of(const struct run *run, size_t n)
{
	uint64_t time = run->time, now = run->now;

	for (const uint64_t *word = run->words;; word++) {
		read_decode_moment(&time, &now, *word);
		if (read_word_no_entry(*word) && !n--)
			return now;
	}
}

static __attribute__((noinline)) void add_max(
	struct read_count *c, const struct run *run, uint32_t row, size_t n, uint64_t time)
{
	uint64_t end = moment_of(run, n);
	uint64_t ticks = time;

	if (c->setup->scale)
		ticks = (uint64_t)((unsigned __int128)time * READ_CLOCK_UNIT_MULT / c->process->clock.mult);
	read_count_max(c, row, time, end - ticks);
}

static void add(struct read_count *c, const struct run *run, const struct ended *ended, size_t count)
{
	struct read_row *rows = c->rows.row;

	for (size_t i = 0; i < count; i++) {
		struct read_row *row = &rows[ended[i].row];
		if (read_count_call(c, row, ended[i].time, ended[i].self))
			add_max(c, run, (uint32_t)ended[i].row, i, ended[i].time);
	}
}

/* The row of an event, or 0. first: the first page. */
READ_INLINE uint32_t row_of(const struct read_count *c, const uint32_t *first, uint32_t id)
{
	return likely(id <= PAGE_MASK) ? first[id] : c->page[id >> READ_COUNT_PAGE_BITS][id & PAGE_MASK];
}

/*
 * Two ways to take a run of words, up to one that is not for the fast lane; both do the same. by_thread and scale are
 * known to the compiler.
 *
 * The first has no branch between entries and ends: `mask` is 0 for an entry, all ones for an end, and what belongs to
 * the other one is computed and thrown away. So above the innermost call, and below frame[0]
 * (tool/read/events/calls.h), one more is written.
 */
READ_INLINE size_t without_branch(struct read_count *c, struct read_decoder *d, bool by_thread, bool scale)
{
	const struct run run = { d->words + d->at, d->time, d->now };
	const uint64_t *word = run.words, *end = word + (d->have - d->at > RUN ? RUN : d->have - d->at);
	uint64_t time = d->time, now = d->now;
	char *frame = (char *)c->calls.frame;
	uint64_t top = (uint64_t)((char *)c->calls.top - frame);
	const uint32_t *first = c->page[0];
	uint32_t *open = c->rows.open, thread_row = c->record->thread_row;
	struct ended ended[RUN], *last = ended;

	for (; word < end; word++) {
		uint32_t id = read_word_id(*word);
		uint64_t row = thread_row;
		struct read_call *call = (struct read_call *)(void *)(frame + top), *next = call + 1;
		/* An end is known by its number alone: where it is on the stack must not wait for what is there. */
		uint64_t mask = read_word_no_entry(*word);

		if (!by_thread) {
			row = row_of(c, first, id);
			if (unlikely(!row))
				break;
		}
		/* The call may be another thread's, or have begun before its function had a name. */
		uint64_t high = row << 32, expected;
		memcpy(&expected, &call->id, sizeof(expected));
		if (unlikely(((read_word_end_id(*word) | high) ^ expected) & mask))
			break;
		read_decode_moment(&time, &now, *word);
		uint64_t took = now - call->start, outer = call->outer;
		if (scale)
			took = read_count_scale(c, took);
		last->time = took;
		last->self = took - call->child;
		last->row = row;
		last = (struct ended *)(void *)((char *)last + (mask & sizeof(*last)));
		call[-1].child += took & mask;
		if (unlikely(outer & mask))
			read_count_recursive(frame, &c->rows.row[row], outer, took);
		next->start = now;
		uint64_t both = id | high;
		memcpy(&next->id, &both, sizeof(both));
		next->child = 0;
		next->inner = 0;
		next->outer = open[row];
		uint64_t place = top + sizeof(*next);
		open[row] = (uint32_t)(place ^ ((place ^ outer) & mask));
		top = place - (mask & 2 * sizeof(*next));
	}
	d->at += (size_t)(word - run.words);
	d->time = time;
	d->now = now;
	c->calls.top = (struct read_call *)(void *)(frame + top);
	add(c, &run, ended, (size_t)(last - ended));
	return (size_t)(word - run.words);
}

READ_INLINE size_t with_branch(struct read_count *c, struct read_decoder *d, bool by_thread, bool scale)
{
	const struct run run = { d->words + d->at, d->time, d->now };
	const uint64_t *word = run.words, *end = word + (d->have - d->at > RUN ? RUN : d->have - d->at);
	uint64_t time = d->time, now = d->now;
	char *frame = (char *)c->calls.frame;
	struct read_call *call = c->calls.top;
	const uint32_t *first = c->page[0];
	uint32_t *open = c->rows.open, thread_row = c->record->thread_row;
	struct ended ended[RUN], *last = ended;

	for (; word < end; word++) {
		uint32_t id = read_word_id(*word), row = thread_row;
		bool is_entry = !read_word_no_entry(*word);

		if (is_entry && !by_thread)
			row = row_of(c, first, id);
		if (unlikely(is_entry ? !row : read_word_end_id(*word) != call->id))
			break;
		read_decode_moment(&time, &now, *word);
		if (is_entry) {
			read_calls_begin(++call, id, now);
			read_count_chain(frame, open, call, row);
			continue;
		}
		uint64_t took = now - call->start, outer = call->outer;
		if (scale)
			took = read_count_scale(c, took);
		*last++ = (struct ended){ .time = took, .self = took - call->child, .row = call->row };
		open[call->row] = (uint32_t)outer;
		if (unlikely(outer))
			read_count_recursive(frame, &c->rows.row[call->row], outer, took);
		call--;
		call->child += took;
	}
	d->at += (size_t)(word - run.words);
	d->time = time;
	d->now = now;
	c->calls.top = call;
	add(c, &run, ended, (size_t)(last - ended));
	return (size_t)(word - run.words);
}

#define WAY(name, how, by_thread, scale)                                                                   \
	static __attribute__((noinline)) size_t name(struct read_count *c, struct read_decoder *d)         \
	{                                                                                                  \
		return how(c, d, by_thread, scale);                                                        \
	}
WAY(plain_without, without_branch, false, false)
WAY(plain_with, with_branch, false, false)
WAY(thread_without, without_branch, true, false)
WAY(thread_with, with_branch, true, false)
WAY(scaled_with, with_branch, false, true)
WAY(scaled_thread_with, with_branch, true, true)

/*
 * Which way is the faster one? That depends on whether the processor can foresee what comes next. So both are timed, in
 * turns, for the first runs of each PERIOD, and the others go the way that took less; the longest run of each does not
 * count, since something else may have had the processor.
 */
#define TRIALS 32
#define PERIOD 1024

static size_t take_run(struct read_count *c, struct read_decoder *d)
{
	struct read_count_ways *ways = &c->ways;
	bool by_thread = read_count_is_by_thread(c);
	unsigned number = ways->runs++ % PERIOD, way = ways->best;

	if (unlikely(c->setup->scale))
		return by_thread ? scaled_thread_with(c, d) : scaled_with(c, d);
	if (likely(number >= TRIALS)) {
		if (by_thread)
			return way ? thread_with(c, d) : thread_without(c, d);
		return way ? plain_with(c, d) : plain_without(c, d);
	}
	if (!number)
		*ways = (struct read_count_ways){ .runs = ways->runs, .best = ways->best };
	way = number % 2;
	uint64_t begin = cpu_ticks();
	size_t taken = by_thread ? (way ? thread_with(c, d) : thread_without(c, d))
				 : (way ? plain_with(c, d) : plain_without(c, d));
	uint64_t ticks = cpu_ticks() - begin;
	ways->words[way] += taken;
	ways->ticks[way] += ticks;
	if (ticks > ways->most[way])
		ways->most[way] = ticks;
	if (number == TRIALS - 1 && ways->words[0] && ways->words[1])
		ways->best = (double)(ways->ticks[1] - ways->most[1]) / (double)ways->words[1] <
			     (double)(ways->ticks[0] - ways->most[0]) / (double)ways->words[0];
	return taken;
}

/* ---- where not all calls count ---- */

enum lane { LANE_ALL, LANE_NONE, LANE_MIXED };

/* The moment of the last event of the next run, or a later one. */
static uint64_t end_of_run(const struct read_decoder *d)
{
	size_t have = d->have - d->at < RUN ? d->have - d->at : RUN;
	uint64_t time = d->time, now = d->now;

	for (size_t i = 0; i < have; i++) {
		uint64_t word = d->words[d->at + i];
		if (!read_decode_is_event(TRACE_TYPE_OF(word)))
			break;
		read_decode_moment(&time, &now, word);
	}
	return now;
}

/* Which calls count that begin in the next run? */
static enum lane lane_of(const struct read_count *c, const struct read_decoder *d)
{
	bool timed = c->from || c->to != UINT64_MAX;
	uint32_t tid = c->setup->tid;
	uint64_t end;

	if ((tid && tid != d->tid) || (c->to != UINT64_MAX && d->now >= c->to))
		return LANE_NONE;
	if (!timed)
		return LANE_ALL;
	end = end_of_run(d);
	if (end < c->from)
		return LANE_NONE;
	return d->now >= c->from && (end < c->to || c->to == UINT64_MAX) ? LANE_ALL : LANE_MIXED;
}

/* Does an open call of the stack count? */
static bool counts_any(const struct read_count *c)
{
	for (const struct read_call *call = c->calls.top; call > c->calls.frame; call--)
		if (call->row)
			return true;
	return false;
}

/*
 * Where no call counts that is open or begins: they are followed, that it is known which end ends which, but what
 * row[0] would add up is of no use. It has no chain of its calls then, as where none is open.
 */
static size_t follow(struct read_count *c, struct read_decoder *d)
{
	size_t taken = read_ahead_run(d, &c->calls, 0, UINT64_MAX);

	c->rows.open[0] = 0;
	return taken;
}

/* All calls that begin in the run are row[0]'s, as loop.c has it. */
static size_t take_run_of_none(struct read_count *c, struct read_decoder *d)
{
	struct read_turns_record *record = c->record;
	uint32_t row = record->thread_row;
	size_t taken;

	if (!counts_any(c))
		return follow(c, d);
	record->thread_row = 0;
	taken = c->setup->scale ? scaled_thread_with(c, d) : thread_without(c, d);
	record->thread_row = row;
	return taken;
}

size_t read_count_fast(struct read_count *c, struct read_decoder *d)
{
	size_t taken = 0, part;

	if (d->at == d->have)
		return 0; /* there may be no words at all, and no pointer to them */
	do {
		while (c->calls.limit - c->calls.top <= RUN + 1)
			if (!read_calls_grow(&c->calls))
				return taken;
		enum lane lane = c->filtered ? lane_of(c, d) : LANE_ALL;
		if (lane == LANE_MIXED)
			return taken;
		part = lane == LANE_ALL ? take_run(c, d) : take_run_of_none(c, d);
		taken += part;
	} while (part == RUN);
	return taken;
}
