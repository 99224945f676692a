/* SPDX-License-Identifier: MIT */
/* Dense words of chunks (format/dense.h), by the format's text, as simply as it can be said. */
#include <string.h>

#include "t/lib/make_trace.h"

#define LEAST 4 /* pairs of a run */

static uint32_t high_of(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

/* How many pairs at `word` go on as the two high halves before, each word up to 255 ticks after the one before. */
static size_t pairs_at(const uint64_t *word, size_t left, uint32_t older, uint32_t newer, uint32_t low)
{
	size_t n = 0;

	for (; 2 * n + 1 < left && n < 0xffff; n++) {
		const uint64_t *pair = word + 2 * n;
		if (high_of(pair[0]) != older || high_of(pair[1]) != newer || (uint32_t)pair[0] - low > 255 ||
			(uint32_t)pair[1] - (uint32_t)pair[0] > 255)
			break;
		low = (uint32_t)pair[1];
	}
	return n;
}

size_t dense_codes(const uint64_t *word, size_t count, uint64_t clock, uint16_t *to, size_t room)
{
	uint32_t table[512] = { 0 }, low = (uint32_t)clock, older = 0, newer = 0;
	uint16_t *code = to, *end = to + room;

	for (size_t i = 0; i < count;) {
		uint32_t high = high_of(word[i]), later = (uint32_t)word[i] - low, place = high * 0x9e3779b1u >> 23;
		size_t pairs = pairs_at(word + i, count - i, older, newer, low), words = 1;

		if (end - code < 2 + (long)pairs)
			return 0;
		if (pairs >= LEAST) {
			*code++ = 126 << 9;
			*code++ = (uint16_t)pairs;
			for (; pairs; pairs--, i += 2) {
				uint32_t second = (uint32_t)word[i + 1] - (uint32_t)word[i];
				*code++ = (uint16_t)(((uint32_t)word[i] - low) | second << 8);
				low = (uint32_t)word[i + 1];
			}
			continue;
		}
		if (table[place] == high && later < 24u << 16) {
			*code++ = (uint16_t)((later < 96 ? later : 96 + (later >> 16)) << 9 | place);
			if (later >= 96)
				*code++ = (uint16_t)later;
		} else {
			words += TRACE_PAYLOAD_OF(word[i]);
			words = words < 512 ? words : 512;
			words = words < count - i ? words : count - i;
			if ((size_t)(end - code) < 1 + 4 * words)
				return 0;
			*code++ = (uint16_t)(127 << 9 | (words - 1));
			memcpy(code, word + i, 8 * words);
			code += 4 * words;
			table[place] = high;
		}
		low = (uint32_t)word[i];
		older = newer;
		newer = high;
		i += words;
	}
	return (size_t)(code - to);
}
