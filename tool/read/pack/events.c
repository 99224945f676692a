/* SPDX-License-Identifier: MIT */
#include "tool/read/pack/events.h"

#include <stdlib.h>
#include <string.h>

/* How often a stream may be read for one word, in bytes: no stream can be overrun within that. */
static const uint8_t most[PACK_STREAMS] = {
	[PACK_TOKENS] = 1,
	[PACK_LOW] = 1,
	[PACK_HIGH] = 1,
	[PACK_WIDE] = 2,
	[PACK_SOON] = 1,
	[PACK_LATE] = 1,
	[PACK_MORE] = 4,
	[PACK_RAW] = 8,
};

#define SHORT_DIFFERENCE  224u /* what one byte can tell is below */
#define MIDDLE_DIFFERENCE (31u << 8)
#define TYPE(high)	  ((high) >> TRACE_ID_BITS)

size_t pack_stream_room(enum pack_streams stream, size_t words)
{
	return words * most[stream] + 8;
}

bool pack_coder_room(struct pack_coder *coder, size_t raw)
{
	size_t words = raw / 8, size = 0, at = 0;

	if (coder->stream[0] && words <= coder->words)
		return true;
	for (int i = 0; i < PACK_STREAMS; i++)
		size += pack_stream_room(i, words);
	/* Zeros: a block that tells too little of its streams must not make them depend on what was there before. */
	uint8_t *streams = calloc(size, 1);
	if (!streams)
		return false;
	free(coder->stream[0]);
	for (int i = 0; i < PACK_STREAMS; i++) {
		coder->stream[i] = streams + at;
		at += pack_stream_room(i, words);
	}
	coder->words = words;
	return true;
}

void pack_coder_free(struct pack_coder *coder)
{
	free(coder->stream[0]);
	memset(coder->stream, 0, sizeof(coder->stream));
}

static inline uint32_t hash_long(uint32_t a, uint32_t b, uint32_t c)
{
	return (uint32_t)((((uint64_t)a << 32 | c) * PACK_HASH_HISTORY + b) * PACK_HASH >> (64 - PACK_TABLE_BITS));
}

static inline uint32_t hash_short(uint32_t a)
{
	return (uint32_t)(a * PACK_HASH >> (64 - PACK_TABLE_BITS));
}

static inline bool is_end(uint32_t type)
{
	return type >= TRACE_EXIT && type <= TRACE_UNWIND;
}

/* What a word means for those after it. Returns how many of them are its payload. */
static inline uint32_t follow(struct pack_model *model, uint32_t *depth, uint32_t high)
{
	uint32_t type = TYPE(high);

	if (type == TRACE_ENTRY)
		model->stack[++*depth & (PACK_DEPTH - 1)] = high & TRACE_ID_MASK;
	else if (is_end(type))
		--*depth;
	else
		return TRACE_PAYLOAD_OF((uint64_t)high << 32);
	return 0;
}

/* ---- taking apart ---- */

static inline uint8_t *put_difference(uint8_t *to, uint8_t **more, uint32_t difference)
{
	uint32_t rest = difference - SHORT_DIFFERENCE;

	if (difference < SHORT_DIFFERENCE) {
		*to++ = (uint8_t)difference;
	} else if (rest < MIDDLE_DIFFERENCE) {
		*to++ = (uint8_t)(SHORT_DIFFERENCE + (rest >> 8));
		*(*more)++ = (uint8_t)rest;
	} else {
		*to++ = 255;
		memcpy(*more, &difference, sizeof(difference));
		*more += sizeof(difference);
	}
	return to;
}

void pack_events_split(struct pack_coder *coder, const void *from, size_t raw, size_t length[PACK_STREAMS])
{
	struct pack_model *model = &coder->model;
	const uint8_t *word = from, *end = word + raw / 8 * 8;
	uint8_t *tokens = coder->stream[PACK_TOKENS], *low_byte = coder->stream[PACK_LOW];
	uint8_t *high_byte = coder->stream[PACK_HIGH], *wide = coder->stream[PACK_WIDE];
	uint8_t *soon = coder->stream[PACK_SOON], *late = coder->stream[PACK_LATE];
	uint8_t *more = coder->stream[PACK_MORE], *rest = coder->stream[PACK_RAW];
	uint32_t a = 0, b = 0, c = 0, depth = 0, last = 0, payload = 0;

	memset(model, 0, sizeof(*model));
	for (; word < end; word += 8) {
		uint32_t high, low;

		memcpy(&low, word, sizeof(low));
		memcpy(&high, word + 4, sizeof(high));
		uint32_t type = TYPE(high), id = high & TRACE_ID_MASK;
		if (payload || !type) {
			memcpy(rest, word, 8);
			rest += 8;
			if (payload)
				payload--;
			else
				*tokens++ = PACK_TOKEN_WORD;
			continue;
		}
		uint32_t *by_long = &model->long_table[hash_long(a, b, c)];
		uint32_t *by_short = &model->short_table[hash_short(a)];
		bool foreseen = high == *by_long;
		if (foreseen) {
			*tokens++ = PACK_TOKEN_LONG;
		} else if (high == *by_short) {
			*tokens++ = PACK_TOKEN_SHORT;
		} else if (is_end(type) && id == model->stack[depth & (PACK_DEPTH - 1)]) {
			*tokens++ = (uint8_t)(PACK_TOKEN_END + type);
		} else {
			bool is_wide = id >> 16;
			*tokens++ = (uint8_t)((is_wide ? PACK_TOKEN_WIDE : PACK_TOKEN_ID) + type);
			*low_byte++ = (uint8_t)id;
			*high_byte++ = (uint8_t)(id >> 8);
			if (is_wide) {
				*wide++ = (uint8_t)(id >> 16);
				*wide++ = (uint8_t)(id >> 24);
			}
		}
		*by_long = *by_short = high;
		payload = follow(model, &depth, high);
		c = b;
		b = a;
		a = high;
		if (foreseen)
			soon = put_difference(soon, &more, low - last);
		else
			late = put_difference(late, &more, low - last);
		last = low;
	}
	memcpy(rest, end, raw % 8);
	rest += raw % 8;
	uint8_t *const ends[PACK_STREAMS] = { tokens, low_byte, high_byte, wide, soon, late, more, rest };
	for (int i = 0; i < PACK_STREAMS; i++)
		length[i] = (size_t)(ends[i] - coder->stream[i]);
}

/* ---- putting together ---- */

static inline uint32_t take_difference(const uint8_t **from, const uint8_t **more)
{
	uint32_t difference = *(*from)++;

	if (difference == 255) {
		memcpy(&difference, *more, sizeof(difference));
		*more += sizeof(difference);
	} else if (difference >= SHORT_DIFFERENCE) {
		difference = SHORT_DIFFERENCE + ((difference - SHORT_DIFFERENCE) << 8 | *(*more)++);
	}
	return difference;
}

bool pack_events_join(struct pack_coder *coder, const size_t length[PACK_STREAMS], void *to, size_t raw)
{
	struct pack_model *model = &coder->model;
	uint8_t *word = to, *end = word + raw / 8 * 8;
	const uint8_t *tokens = coder->stream[PACK_TOKENS], *low_byte = coder->stream[PACK_LOW];
	const uint8_t *high_byte = coder->stream[PACK_HIGH], *wide = coder->stream[PACK_WIDE];
	const uint8_t *soon = coder->stream[PACK_SOON], *late = coder->stream[PACK_LATE];
	const uint8_t *more = coder->stream[PACK_MORE], *rest = coder->stream[PACK_RAW];
	uint32_t a = 0, b = 0, c = 0, depth = 0, low = 0, payload = 0;

	memset(model, 0, sizeof(*model));
	for (; word < end; word += 8) {
		if (payload || *tokens == PACK_TOKEN_WORD) {
			memcpy(word, rest, 8);
			rest += 8;
			if (payload)
				payload--;
			else
				tokens++;
			continue;
		}
		uint32_t *by_long = &model->long_table[hash_long(a, b, c)];
		uint32_t *by_short = &model->short_table[hash_short(a)];
		uint32_t high, token = *tokens++;
		if (token == PACK_TOKEN_LONG) {
			high = *by_long;
		} else if (token == PACK_TOKEN_SHORT) {
			high = *by_short;
		} else if (is_end(token)) {
			high = TRACE_WORD(token, model->stack[depth & (PACK_DEPTH - 1)]);
		} else {
			if (token < PACK_TOKEN_ID || token >= PACK_TOKEN_WIDE + 16)
				return false;
			uint32_t id = *low_byte++;
			id |= (uint32_t)*high_byte++ << 8;
			if (token >= PACK_TOKEN_WIDE) {
				id |= (uint32_t)wide[0] << 16 | (uint32_t)wide[1] << 24;
				wide += 2;
			}
			high = TRACE_WORD(token & 15, id & TRACE_ID_MASK);
		}
		*by_long = *by_short = high;
		payload = follow(model, &depth, high);
		c = b;
		b = a;
		a = high;
		low += token == PACK_TOKEN_LONG ? take_difference(&soon, &more) : take_difference(&late, &more);
		memcpy(word, &low, sizeof(low));
		memcpy(word + 4, &high, sizeof(high));
	}
	memcpy(end, rest, raw % 8);
	rest += raw % 8;
	const uint8_t *const ends[PACK_STREAMS] = { tokens, low_byte, high_byte, wide, soon, late, more, rest };
	for (int i = 0; i < PACK_STREAMS; i++)
		if (ends[i] != coder->stream[i] + length[i])
			return false;
	return true;
}
