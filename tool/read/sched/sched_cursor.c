/* SPDX-License-Identifier: MIT */
#include "tool/read/sched/sched_cursor.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/folder.h"
#include "tool/read/process.h"
#include "tool/read/sched/records.h"
#include "tool/read/sched/sched.h"

enum state { OFF, ON, UNKNOWN };

/* From the file's clock to the process's. */
enum conversion { NONE, TO_MONOTONIC, TO_TICKS, IMPOSSIBLE };

static uint64_t convert(const struct read_sched_cursor *c, uint64_t time)
{
	unsigned __int128 ticks;

	if (c->conversion == NONE || !time || time == UINT64_MAX)
		return time;
	if (c->conversion == TO_MONOTONIC)
		return read_clock_time(&c->clock, time);
	uint64_t mono = c->clock.mono, ns = time > mono ? time - mono : mono - time;
	ticks = ((unsigned __int128)ns << READ_CLOCK_SHIFT) / c->clock.mult;
	if (ticks >> 63)
		return time > mono ? UINT64_MAX : 0;
	if (time > mono)
		return c->clock.ticks + (uint64_t)ticks;
	return c->clock.ticks > (uint64_t)ticks ? c->clock.ticks - (uint64_t)ticks : 0;
}

/* The state behind a record, and before one. */
static enum state behind(uint32_t what)
{
	return !what ? UNKNOWN : what == SCHED_IN ? ON : OFF;
}

static enum state before(uint32_t what)
{
	return !what ? UNKNOWN : what == SCHED_IN || what == SCHED_BEGIN ? OFF : ON;
}

/* May the state between two records be what both of them say? */
static bool is_sound(uint32_t first, uint32_t second)
{
	switch (first) {
	case 0: /* nothing was before */
	case SCHED_IN:
		return !first || !second || before(second) == ON;
	case SCHED_EXIT:
		return !second || second == SCHED_BEGIN;
	default:
		return !second || second == SCHED_IN;
	}
}

static void add_piece(struct read_sched_cursor *c, uint64_t end, enum state state)
{
	c->piece[c->parts].end = convert(c, end);
	c->piece[c->parts++].state = state;
}

/* Takes the next record, and finds what the thread did before it. */
static void next_record(struct read_sched_cursor *c)
{
	const struct read_sched *sched = c->sched;
	uint64_t word = 0;
	unsigned shift = 0;

	c->before = c->behind;
	c->from = c->to;
	c->behind = 0;
	c->to = UINT64_MAX;
	if (c->at < c->end) {
		do
			word |= (uint64_t)(*c->at & 0x7f) << shift;
		while (shift += 7, *c->at++ & 0x80);
		c->behind = word & ((1u << SCHED_WHAT_BITS) - 1);
		c->to = c->from + (word >> SCHED_WHAT_BITS);
	}

	c->part = c->parts = 0;
	while (sched->loss[c->loss].time <= c->from && sched->loss[c->loss].time != UINT64_MAX)
		c->loss++;
	size_t last = c->loss;
	while (last + 1 < sched->losses && sched->loss[last + 1].since < c->to)
		last++;
	const struct sched_stretch *first = &sched->loss[c->loss];
	if (first->since >= c->to) {
		enum state state = !is_sound(c->before, c->behind) ? UNKNOWN :
				   c->before			    ? behind(c->before) :
								      before(c->behind);
		add_piece(c, c->to, state);
		return;
	}
	if (first->since > c->from)
		add_piece(c, first->since, behind(c->before));
	uint64_t end = sched->loss[last].time;
	add_piece(c, end < c->to ? end : c->to, UNKNOWN);
	if (end < c->to)
		add_piece(c, c->to, before(c->behind));
}

/* Makes `part` the present state. */
static void enter(struct read_sched_cursor *c)
{
	enum state state = (enum state)c->piece[c->part].state;

	c->next = c->piece[c->part].end;
	c->running = state == ON ? UINT64_MAX : 0;
	if (state == UNKNOWN)
		c->unknown = UINT64_MAX;
}

void read_sched_step(struct read_sched_cursor *c, uint64_t now)
{
	while (now > c->next) {
		uint64_t passed = c->next > c->since ? c->next - c->since : 0;

		c->on += passed & c->running;
		c->since += passed;
		if (c->unknown == UINT64_MAX)
			c->unknown = c->since;
		if (++c->part == c->parts)
			next_record(c);
		enter(c);
	}
}

void read_sched_begin(struct read_sched_cursor *c, const struct read_sched *sched,
	const struct read_process *process, uint32_t tid)
{
	const struct sched_thread *thread = process ? sched_find(sched, process->head.pid, tid) : NULL;

	*c = (struct read_sched_cursor){ .sched = sched, .next = UINT64_MAX, .unknown = UINT64_MAX };
	if (!thread || !thread->size)
		return;
	if (process->clock.source == sched->head.clock)
		c->conversion = NONE;
	else if (sched->head.clock == TRACE_CLOCK_MONOTONIC)
		c->conversion = process->clock.valid ? TO_TICKS : IMPOSSIBLE;
	else
		c->conversion = sched->clock.valid ? TO_MONOTONIC : IMPOSSIBLE;
	if (c->conversion == IMPOSSIBLE)
		return;
	c->clock = c->conversion == TO_TICKS ? process->clock : sched->clock;
	c->at = thread->data;
	c->end = thread->data + thread->size;
	c->unknown = 0;
	/* Times of the first record count from there. */
	c->to = sched->head.start;
	add_piece(c, c->to, UNKNOWN);
	enter(c);
}

/* What the piece at hand is: of a thread on no processor the record before it tells why, unless some were lost. */
static uint32_t state_of(const struct read_sched_cursor *c)
{
	uint32_t last = c->part ? 0 : c->before;

	if (c->piece[c->part].state != OFF)
		return c->piece[c->part].state == ON ? READ_SCHED_ON : READ_SCHED_UNKNOWN;
	if (last == SCHED_EXIT || (!last && c->behind == SCHED_BEGIN))
		return READ_SCHED_NONE;
	return last == SCHED_PREEMPTED || last == SCHED_BEGIN ? READ_SCHED_READY : READ_SCHED_WAITS;
}

bool read_sched_next(struct read_sched_cursor *c, struct read_sched_run *run)
{
	if (!c->parts || (c->next == UINT64_MAX && c->piece[c->part].state == UNKNOWN))
		return false;
	*run = (struct read_sched_run){ .from = c->since, .to = c->next, .state = state_of(c) };
	c->since = c->next > c->since ? c->next : c->since;
	if (++c->part == c->parts)
		next_record(c);
	enter(c);
	return true;
}

void read_sched_life(
	const struct read_folder *folder, const struct read_process *process, uint64_t *from, uint64_t *to)
{
	*from = 0;
	*to = UINT64_MAX;
	for (unsigned i = 0; i < folder->processes; i++) {
		const struct read_process *other = folder->process[i];
		uint64_t begins = other->head.first.ticks;

		if (other == process || other->head.pid != process->head.pid ||
			other->clock.source != process->clock.source)
			continue;
		if (begins < process->head.first.ticks)
			*from = process->head.first.ticks;
		else if (begins < *to)
			*to = begins;
	}
}

bool read_sched_total(
	const struct read_sched *sched, const struct read_process *process, uint32_t tid, uint64_t *least)
{
	const struct sched_thread *thread = sched_find(sched, process->head.pid, tid);
	uint64_t from, to;
	bool known = false;

	*least = 0;
	if (sched->head.holds == SCHED_TOTALS) {
		*least = thread ? thread->total : 0;
		return thread != NULL;
	}
	read_sched_life(sched->folder, process, &from, &to);
	for (uint32_t i = 0; i < sched->threads; i++) {
		struct read_sched_cursor cursor;
		thread = &sched->thread[i];
		if (thread->pid != process->head.pid || (tid && thread->tid != tid))
			continue;
		read_sched_begin(&cursor, sched, process, thread->tid);
		if (cursor.next == UINT64_MAX)
			return false;
		known = true;
		/* To the last stretch of which nothing is known: what comes after the trace's end. */
		uint64_t start = convert(&cursor, sched->head.start);
		uint64_t end = convert(&cursor, sched->loss[sched->losses - 1].since);
		start = from > start ? from : start;
		end = to < end ? to : end;
		if (end <= start)
			continue;
		uint64_t before = read_sched_on(&cursor, start);
		*least += read_sched_on(&cursor, end) - before;
		known &= read_sched_unknown(&cursor) <= start;
	}
	*least = read_clock_span(&process->clock, *least);
	return known;
}
