/* SPDX-License-Identifier: MIT */
/*
 * What all code of a file says about its places: it is decoded once, from the first byte to the last, beginning anew
 * where a function begins. Called by one thread; decoding is divided among several.
 *
 * A place is led to by
 *	jumped	a direct branch, an entry of a jump table, an exception that lands
 *	called	a direct call
 *	pointed	an operand relative to rip, a relocation, a symbol that is no function; in a program at fixed addresses,
 *		a word of data or an immediate operand of that value
 * Jump tables are those of compilers: 32-bit distances from their own beginning, which is loaded by lea; a table ends
 * at the next one that is loaded so, or where a distance leads out of the code. Programs at fixed addresses have tables
 * of addresses, too, which an operand reads by index; their words count as entries, not as pointers. Marking too much
 * costs a function, marking too little a program.
 *
 * Of functions it finds which jump to their own beginning, hold what can't be decoded, go to another stack, or read or
 * move their own return address (body.h), compute where they jump to, and which nameless ones are parts of others
 * (struct image_function).
 */
#ifndef XAUDIT_TOOL_INDEX_FACTS_H
#define XAUDIT_TOOL_INDEX_FACTS_H

#include "tool/index/calls.h"
#include "tool/index/image.h"
#include "tool/index/words.h"

struct facts {
	uint64_t low, size; /* of code */
	uint64_t *jumped, *called, *pointed; /* a bit per byte */
	size_t instructions;
	uint64_t decoded; /* bytes */
	struct calls calls;
	struct words words;
};

/* jobs: how many threads decode, from 1 on. What comes out is the same. */
void facts_read(struct facts *facts, struct image *image, unsigned jobs);
void facts_free(struct facts *facts);

static inline bool facts_bit(const struct facts *facts, const uint64_t *map, uint64_t address)
{
	uint64_t at = address - facts->low;

	return at < facts->size && map[at / 64] >> at % 64 & 1;
}

static inline bool facts_led_to(const struct facts *facts, uint64_t address)
{
	return facts_bit(facts, facts->jumped, address) || facts_bit(facts, facts->called, address) ||
	       facts_bit(facts, facts->pointed, address);
}

#endif
