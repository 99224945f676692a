/* SPDX-License-Identifier: MIT */
#include "tool/read/events/ahead.h"

#include "runtime/base/search.h"

uint64_t read_ahead_ticks(const struct read_clock *clock, uint64_t time)
{
	return SEARCH(i, 0, UINT64_MAX, read_clock_time(clock, i) < time);
}

/*
 * Without a branch between entries and ends: `mask` is 0 for an entry, all ones for an end, and what belongs to an
 * entry is written above the innermost call in either case. An end is known by its number alone: where it is on the
 * stack must not wait for what is there.
 */
size_t read_ahead_run(struct read_decoder *d, struct read_calls *calls, uint32_t row, uint64_t until)
{
	const uint64_t *begin = d->words + d->at, *word = begin;
	const uint64_t *end = word + (d->have - d->at > READ_AHEAD_RUN ? READ_AHEAD_RUN : d->have - d->at);
	uint64_t time = d->time, now = d->now;
	char *frame = (char *)calls->frame;
	uint64_t top = (uint64_t)((char *)calls->top - frame);

	for (; word < end; word++) {
		struct read_call *call = (struct read_call *)(void *)(frame + top), *next = call + 1;
		uint64_t mask = read_word_no_entry(*word), at = time, latest = now;

		if (read_unlikely(((read_word_end_id(*word) ^ call->id) | call->outer) & mask))
			break;
		read_decode_moment(&at, &latest, *word);
		if (read_unlikely(latest >= until))
			break;
		time = at;
		now = latest;
		read_calls_begin(next, read_word_id(*word), now);
		next->row = row;
		next->child = 0;
		next->inner = 0;
		next->outer = 0; /* and so `user` is NULL */
		top += sizeof(*next) - (mask & 2 * sizeof(*next));
	}
	d->at += (size_t)(word - begin);
	d->time = time;
	d->now = now;
	calls->top = (struct read_call *)(void *)(frame + top);
	return (size_t)(word - begin);
}

void read_ahead_block(struct read_decoder *d, struct read_calls *calls, uint32_t row, uint64_t until)
{
	size_t taken = READ_AHEAD_RUN;

	while (d->at < d->have && taken == READ_AHEAD_RUN) {
		while (calls->limit - calls->top <= READ_AHEAD_RUN + 1)
			if (!read_calls_grow(calls))
				return;
		taken = read_ahead_run(d, calls, row, until);
	}
}
