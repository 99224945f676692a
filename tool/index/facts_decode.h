/* SPDX-License-Identifier: MIT */
/*
 * What the files that read facts.h's facts share: decoding, by several threads (facts_decode.c), and what is done with
 * what that found (facts.c).
 *
 * Protocol. The code is divided into ranges, each from the beginning of a function, or of what no function is, to that
 * of another. A range has findings of its own, and is decoded by one thread, as is a function's struct image_function,
 * but for the fields that other functions' code tells (owner, conditional). The maps of facts are of all threads: bits
 * are set by atomic operations, and read when all threads have ended. Then the findings are put together in the order
 * of the code: so they do not depend on how many threads there were.
 */
#ifndef XAUDIT_TOOL_INDEX_FACTS_DECODE_H
#define XAUDIT_TOOL_INDEX_FACTS_DECODE_H

#include "tool/base/memory.h"
#include "tool/index/asks_caller.h"
#include "tool/index/facts.h"

/* What may be a jump table: an address that this function loads or reads by index. */
struct table {
	uint64_t address;
	uint64_t end; /* of absolute ones, when they were read */
	uint32_t function;
};

/*
 * A place of its own that a function takes the address of, or one within another function. Distances of a table may
 * count from its own ones instead of from the table: that is how computed gotos are written whose table needs no
 * relocations.
 */
struct base {
	uint64_t address;
	uint32_t function;
};

/* A jump from one function's code to another one's beginning. */
struct leap {
	uint32_t from, to;
	bool bound; /* by way of a word that ld.so fills: a call to the end, whomever it comes to */
};

/* A jump into the code of another function. */
struct leave {
	uint32_t from, to;
	bool conditional; /* and to its beginning */
};

/* Each in the order of the code. */
struct findings {
	struct table *table; /* of 32-bit distances */
	size_t tables;
	struct table *words; /* of addresses, in programs at fixed ones */
	size_t word_tables;
	struct base *base; /* by function */
	size_t bases;
	struct leap *leap;
	size_t leaps;
	struct leave *leave;
	size_t leaves;
};

struct reading {
	struct facts *facts;
	struct image *image;
	struct findings found;
	bool *indirect; /* of function i: it jumps through a register */
	bool *asks;	/* of function i: it jumps to what asks its return address who called it */
	struct asks bound;
	uint64_t told, told_end; /* addresses of calls (CALLS_SECTION), which nobody jumps to */
};

/* To a list that is grown by nothing else. */
#define APPEND(array, count, ...)                                                                    \
	do {                                                                                         \
		if (!((count) & ((count)-1)))                                                        \
			(array) = memory_resize(array, (count) ? 2 * (count) : 1, sizeof(*(array))); \
		(array)[(count)++] = __VA_ARGS__;                                                    \
	} while (0)

/* Any thread. */
static inline void facts_mark(struct facts *facts, uint64_t *map, uint64_t address)
{
	uint64_t at = address - facts->low, bit = (uint64_t)1 << at % 64;

	/* Relaxed, both: bits are only set, and pthread_join() is between that and their readers. */
	if (at < facts->size && !(__atomic_load_n(&map[at / 64], __ATOMIC_RELAXED) & bit))
		__atomic_fetch_or(&map[at / 64], bit, __ATOMIC_RELAXED);
}

static inline bool facts_in_code(const struct facts *facts, uint64_t address)
{
	return address - facts->low < facts->size;
}

/* Decodes all code by so many threads: the findings, the maps, and what is known of functions then. */
void facts_decode(struct reading *reading, unsigned jobs);

#endif
