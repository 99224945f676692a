/* SPDX-License-Identifier: MIT */
#include "runtime/files/dense.h"

#include "format/trace.h"
#include "x86_64/sys.h"

#define RUN_LEAST 8u /* pairs: fewer are no run */
#define PAUSE	  32 /* words; then it is looked for a run, so that this costs nothing where there are none */

/* Codes that need not lie where words may. */
typedef uint64_t __attribute__((aligned(2), may_alias)) loose_word;

static uint32_t high_of(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

void dense_begin(struct dense *dense, uint64_t clock)
{
	sys_fill_words(dense->table, 0, sizeof(dense->table) / 8);
	dense->pause = PAUSE;
	dense->older = 0;
	dense->newer = (uint32_t)clock;
}

/*
 * Takes pairs that are as the two words before, each at most 255 ticks after the one before. Returns the end of the
 * codes: `code` if there are too few.
 */
static uint16_t *add_run(struct dense *dense, const uint64_t **word, const uint64_t *end, uint16_t *code)
{
	const uint64_t *from = *word, *w = from;
	/* A difference of whole words: that of the high halves is always the same. */
	uint64_t step = (uint64_t)(high_of(dense->older) - high_of(dense->newer)) << 32, before = dense->newer;
	uint64_t pairs = (uint64_t)(end - w) / 2;
	uint16_t *to = code + 2;

	pairs = pairs < DENSE_RUN_MOST ? pairs : DENSE_RUN_MOST;
	for (const uint64_t *stop = w + 2 * pairs; w < stop; w += 2) {
		uint64_t first = w[0] - before - step, second = w[1] - w[0] + step;
		if ((first | second) > 0xff)
			break;
		*to++ = (uint16_t)(first | second << 8);
		before = w[1];
	}
	/*
	 * Where the low half of the clock began anew the difference does not tell other high halves, of one more. Once
	 * at most, since a run is shorter than that takes; so the last word tells whether it was there.
	 */
	for (; w > from && high_of(w[-1]) != high_of(dense->newer); w -= 2)
		to--;
	if (w - from < 2 * RUN_LEAST)
		return code;
	code[0] = DENSE_CODE(DENSE_RUN, 0);
	code[1] = (uint16_t)((w - from) / 2);
	dense->older = w[-2];
	dense->newer = w[-1];
	*word = w;
	return to;
}

uint16_t *dense_add(
	struct dense *dense, const uint64_t **word, const uint64_t *end, uint16_t *code, const uint16_t *limit)
{
	const uint64_t *w = *word;
	uint64_t older = dense->older, newer = dense->newer;
	uint32_t low = (uint32_t)newer, *table = dense->table;

	while (w < end && code < limit) {
		const uint64_t *pause = (uint64_t)(end - w) < dense->pause ? end : w + dense->pause;
		while (w < pause && code < limit) {
			uint64_t e = *w;
			uint32_t high = high_of(e), place = dense_place(high), later = (uint32_t)e - low;
			low = (uint32_t)e;
			older = newer;
			newer = e;
			if (__builtin_expect(table[place] == high && later < (DENSE_END - DENSE_FAR) << 16, 1)) {
				w++;
				if (__builtin_expect(later < DENSE_FAR, 1)) {
					*code++ = DENSE_CODE(later, place);
				} else {
					*code++ = DENSE_CODE(DENSE_FAR + (later >> 16), place);
					*code++ = (uint16_t)later;
				}
				continue;
			}
			uint64_t words = 1 + TRACE_PAYLOAD_OF(e);
			table[place] = high;
			if (__builtin_expect(words > 1, 0)) {
				/*
				 * So that it is not found there: a code for it alone would leave the payload to codes
				 * of its own, and the next event far away from it. No such half belongs to that place.
				 */
				table[place] = high ^ 1u << 31;
				words = words < DENSE_PLACES ? words : DENSE_PLACES;
				words = words < (uint64_t)(end - w) ? words : (uint64_t)(end - w);
			}
			*code++ = DENSE_CODE(DENSE_PLAIN, words - 1);
			for (uint64_t i = 0; i < words; i++, w++, code += 4)
				*(loose_word *)code = *w;
		}
		if (w < pause) {
			dense->pause = (uint32_t)(pause - w);
			break;
		}
		dense->pause = PAUSE;
		if (end - w >= 2 * RUN_LEAST && high_of(w[0]) == high_of(older) && high_of(w[1]) == high_of(newer)) {
			dense->older = older;
			dense->newer = newer;
			code = add_run(dense, &w, end, code);
			older = dense->older;
			newer = dense->newer;
			low = (uint32_t)newer;
		}
	}
	dense->older = older;
	dense->newer = newer;
	*word = w;
	return code;
}
