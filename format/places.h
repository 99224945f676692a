/* SPDX-License-Identifier: MIT */
/*
 * Where the words of a family's directory lie, and its struct trace_handover (PLACES and PUBLISHING in trace.h). Who
 * reads a file takes a struct trace_directory once, of the head of place 0, and looks whether it is sane: all that is
 * computed from it then fits 64 bits. Whether the file reaches so far is another question.
 */
#ifndef XAUDIT_FORMAT_PLACES_H
#define XAUDIT_FORMAT_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"

/* Of a place; see PUBLISHING. */
struct trace_handover {
	uint64_t full;	  /* by the thread */
	uint64_t drained; /* by `xaudit record`, perhaps byte by byte: use it only to compare it with `full` */
};

/*
 * Places are in blocks of `block`, a power of two. The words of the first block begin at `words`, what is for
 * publishing at `handovers`; those of each further block lie as far behind the ones before as a block is long: in the
 * first place of each block, if it is so in the first one. handovers 0: there are none.
 */
struct trace_directory {
	uint64_t place_size, words, handovers;
	uint32_t block;
};

static inline bool trace_directory_is_sane(const struct trace_directory *at)
{
	return at->place_size >= 2 * TRACE_CHUNK_MIN && at->place_size <= 2 * TRACE_CHUNK_MAX &&
	       !(at->place_size & (at->place_size - 1)) && at->block && !(at->block & (at->block - 1)) &&
	       at->block <= TRACE_PLACE_MAX && at->words && !(at->words % 8) && !(at->words >> 61) &&
	       !(at->handovers % 8) && !(at->handovers >> 61);
}

/* Where the block of the place begins. */
static inline uint64_t trace_block_at(const struct trace_directory *at, uint32_t place)
{
	return (place & -at->block) * at->place_size;
}

static inline uint64_t trace_word_at(const struct trace_directory *at, uint32_t place)
{
	return at->words + trace_block_at(at, place) + (place & (at->block - 1)) * 8ull;
}

static inline uint64_t trace_handover_at(const struct trace_directory *at, uint32_t place)
{
	return at->handovers + trace_block_at(at, place) + (place & (at->block - 1)) * sizeof(struct trace_handover);
}

/* Of so many places from that one on, how many have words side by side. */
static inline uint32_t trace_words_together(const struct trace_directory *at, uint32_t place, uint32_t places)
{
	uint32_t left = at->block - (place & (at->block - 1));

	return places < left ? places : left;
}

/* As the head of place 0 has it. */
static inline struct trace_directory trace_directory_of(const struct trace_head *head)
{
	return (struct trace_directory){ head->place_size, head->directory, head->handover, head->block };
}

#endif
