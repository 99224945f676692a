/* SPDX-License-Identifier: MIT */
#include "tool/read/events/decode.h"

#include "tool/read/values/layout.h"

static void damage(struct read_decoder *d, const char *what)
{
	if (d->damage)
		d->damage(d->source, d->at, what);
}

/* The thread was stopped before it wrote the first word of a payload. */
static bool is_unwritten(uint64_t word)
{
	return !word || (read_decode_is_hole(word) && (uint32_t)word == TRACE_TOKEN);
}

/* Moves over that many words, which need not be in the block. */
static void move_over(struct read_decoder *d, uint64_t words)
{
	uint64_t here = d->have - d->at;

	if (words <= here) {
		d->at += words;
		return;
	}
	words -= here;
	if (words > d->rest) {
		if (!d->changing)
			damage(d, "the chunk ends within an event");
		words = d->rest;
	}
	d->at = d->have;
	d->skip = words;
	d->rest -= words;
}

/* Looks at the custom event at d->at. If it is damaged, only its number of words is believed. */
static enum read_decoded look_at_custom(struct read_decoder *d, uint32_t words)
{
	const uint64_t *at = &d->words[d->at];
	uint64_t here = d->have - d->at - 1; /* words after the first */

	if (!words) {
		damage(d, "a control word lacks its payload");
		return READ_DECODED_NOTHING;
	}
	if (!here)
		return READ_DECODED_MORE;
	d->time = read_decode_time(d->time, at[0]);
	if (is_unwritten(at[1])) {
		d->unfinished++;
		return READ_DECODED_NOTHING;
	}
	uint32_t size = (uint32_t)at[1], data = (size + 7) / 8, more = words - 1 - data;
	if (size > TRACE_CUSTOM_MAX || data > words - 1) {
		damage(d, "a custom event has an impossible size");
		return READ_DECODED_NOTHING;
	}
	if (more > 1 + CHAIN_MOST + 1) {
		damage(d, "a custom event has more words than a backtrace can have");
		more = 0;
	}
	/* A custom event is told whole, or not at all. */
	if (words > here && words - here > d->rest)
		return READ_DECODED_NOTHING;
	if (data + more > here - 1)
		return READ_DECODED_MORE;
	d->now = d->time > d->now ? d->time : d->now;
	d->custom = (struct read_decode_custom){ .type = (uint32_t)(at[1] >> 32),
		.size = size,
		.data = (const uint8_t *)&at[2],
		.key = more ? at[2 + data] : 0 };
	if (more && d->chains &&
		!read_chains_take_key(d->chains, at[2 + data], &at[3 + data], more - 1, &d->custom.chain))
		damage(d, "a backtrace in an impossible form");
	return READ_DECODED_CUSTOM;
}

static enum read_decoded come_to_probe(struct read_decoder *d, uint64_t time, uint32_t id, size_t at)
{
	d->time = time;
	d->now = time > d->now ? time : d->now;
	d->probe = (struct read_decode_probe){ id, at };
	return READ_DECODED_PROBE;
}

/* The backtrace of the event with values at d->at. Where it is cut off, that is told already. */
static void look_at_chain(struct read_decoder *d, uint32_t words)
{
	const struct read_layout *layout = d->layout_of(d->source, d->values.layout);
	const uint64_t *payload = &d->words[d->at + 1];

	if (layout && layout->has_stack && d->values.words == words &&
		!read_chains_take(d->chains, layout, payload, words, d->values.flawed, &d->values.chain))
		damage(d, "a backtrace in an impossible form");
}

/*
 * Looks at the event with values at d->at. Where the chunk is cut off it has those that are there. Where a late payload
 * has not come, it is none.
 */
static enum read_decoded look_at_values(struct read_decoder *d)
{
	uint32_t id = TRACE_ID_OF(d->words[d->at]), words = TRACE_VALUED_WORDS(id);
	uint64_t here = d->have - d->at - 1;

	if (words > here && words - here <= d->rest)
		return READ_DECODED_MORE;
	bool late = TRACE_IS_LATE(d->words[d->at]) && here && d->words[d->at + 1] == d->token;
	uint32_t event = d->event_of ? d->event_of(d->source, TRACE_VALUED_LAYOUT(id)) : READ_DECODE_UNKNOWN;
	if (event == READ_DECODE_UNKNOWN)
		damage(d, "an event has values by a layout that meta does not have");
	d->values = (struct read_decode_values){
		.first = d->at,
		.layout = TRACE_VALUED_LAYOUT(id),
		.words = words < here ? words : (uint32_t)here,
		.flawed = id & TRACE_VALUED_FLAWED,
		.event = event,
		.time = read_decode_time(d->time, d->words[d->at]),
	};
	bool told = event > READ_DECODE_LOST && !late && !(words > here && d->changing);
	if (told && d->chains)
		look_at_chain(d, words);
	move_over(d, 1 + (uint64_t)words);
	d->values.last = told ? d->at - 1 : SIZE_MAX;
	d->valued += told;
	if (told && event >> TRACE_ID_BITS == TRACE_PROBE)
		return come_to_probe(d, d->values.time, event & TRACE_ID_MASK, d->values.last);
	return told ? READ_DECODED_VALUED : READ_DECODED_NOTHING;
}

enum read_decoded read_decode_control(struct read_decoder *d)
{
	uint64_t word = d->words[d->at], payload;
	uint32_t id = TRACE_ID_OF(word), words = TRACE_CONTROL_WORDS(id);
	enum read_decoded what = READ_DECODED_NOTHING;

	if (TRACE_TYPE_OF(word) == TRACE_STACK) {
		read_decode_moment(&d->time, &d->now, word);
		d->stack = id;
		d->at++;
		return READ_DECODED_STACK;
	}
	if (TRACE_TYPE_OF(word) == TRACE_VALUED)
		return look_at_values(d);
	if (TRACE_TYPE_OF(word) == TRACE_PROBE)
		return come_to_probe(d, read_decode_time(d->time, word), id, d->at++);
	if (TRACE_TYPE_OF(word) != TRACE_CONTROL) {
		if (!read_decode_is_hole(word))
			damage(d, "an event of unknown type");
		d->at++;
		return READ_DECODED_NOTHING;
	}
	switch TRACE_CONTROL_SUBTYPE(id) {
	case TRACE_SYNC:
	case TRACE_THREAD:
	case TRACE_CRASH:
	case TRACE_PART:
		if (!words) {
			damage(d, "a control word lacks its payload");
			break;
		}
		if (d->have - d->at < 2)
			return READ_DECODED_MORE;
		/* Else the writer was interrupted, or killed, before it wrote the payload. */
		payload = is_unwritten(d->words[d->at + 1]) ? 0 : d->words[d->at + 1];
		if (TRACE_CONTROL_SUBTYPE(id) == TRACE_SYNC && payload)
			d->time = payload;
		if (TRACE_CONTROL_SUBTYPE(id) == TRACE_THREAD) {
			d->tid = payload ? (uint32_t)payload : d->tid;
			d->stack = 0;
			what = READ_DECODED_THREAD;
		}
		if (TRACE_CONTROL_SUBTYPE(id) == TRACE_CRASH) {
			d->signal = payload < 128 ? (int)payload : 0;
			what = READ_DECODED_CRASH;
		}
		if (TRACE_CONTROL_SUBTYPE(id) == TRACE_PART && payload) {
			d->stack = (uint32_t)payload & TRACE_ID_MASK;
			d->calls = (uint32_t)(payload >> 32);
			d->outer = (payload & TRACE_PART_OUTER) != 0;
			what = READ_DECODED_PART;
		}
		break;
	case TRACE_CUSTOM:
		what = look_at_custom(d, words);
		if (what == READ_DECODED_MORE)
			return what;
		break;
	}
	move_over(d, 1 + (uint64_t)words);
	return what;
}
