/* SPDX-License-Identifier: MIT */
/*
 * Dense words: how a chunk is written to t<n> in three quarters of its size or less (trace.h; trace_chunk.dense bytes
 * after the head, of a chunk of version TRACE_CHUNK_DENSE). A hot loop takes one byte per event, other programs 2 to 3,
 * and those 4 whose events are rare.
 *
 * They are codes of 16 bits. Of each word the high half (type and id) is found in a table, of the low half (clock) the
 * difference to the word before is stored. This is how they are read; at the chunk's beginning `low` is the low half of
 * trace_chunk.clock, and all else is 0:
 *
 *	while there are codes
 *		code = place | kind << DENSE_PLACE_BITS
 *		kind is below DENSE_FAR:
 *			low += kind; the word is table[place] << 32 | low
 *		below DENSE_END:
 *			low += (kind - DENSE_FAR) << 16 | the next code; the word as above
 *		DENSE_RUN (place is 0): the next code tells how many pairs of words follow. For each pair a code:
 *			low += its low byte; the word is older << 32 | low
 *			low += its high byte; the word is newer << 32 | low
 *		DENSE_PLAIN: place + 1 words follow as they are, 4 codes each, the lowest first. Of the first one
 *			low = its low half; table[dense_place(its high half)] = its high half
 *		older = newer, newer = the word's high half; of several plain words the first one's. Not after a run
 *
 * where `low` counts modulo 2^32. Other kinds are damage. The payload of a control event, or of an event with values,
 * are plain words after its own, which is always a plain one; so 512 payload words, the most that there are, need a
 * second code. (A reader need not know: it takes any words that codes tell of.)
 */
#ifndef XAUDIT_FORMAT_DENSE_H
#define XAUDIT_FORMAT_DENSE_H

#include <stdint.h>

#define DENSE_PLACE_BITS 9
#define DENSE_PLACES	 (1u << DENSE_PLACE_BITS)
#define DENSE_FAR	 96u
#define DENSE_END	 120u
#define DENSE_RUN	 126u
#define DENSE_PLAIN	 127u

#define DENSE_CODE(kind, place) ((uint16_t)((kind) << DENSE_PLACE_BITS | (place)))

/* Words of so many bytes are written densely if they take no more than this. Where events are rare they take a half. */
#define DENSE_WORTH(bytes) ((bytes) / 4 * 3)

/* Where the table has a high half. */
static inline uint32_t dense_place(uint32_t high)
{
	return high * 0x9e3779b1u >> (32 - DENSE_PLACE_BITS);
}

#endif
