/* SPDX-License-Identifier: MIT */
/* The words of a chunk (chunks.h), plain or dense, and whether it is still there. */
#ifndef XAUDIT_TOOL_READ_EVENTS_CHUNK_WORDS_H
#define XAUDIT_TOOL_READ_EVENTS_CHUNK_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/read/events/chunks.h"

/* Reads the head again. Returns false, and does not change *chunk, if another chunk is there now. */
bool read_chunk_again(struct read_chunk *chunk);

/*
 * Bytes at `offset` of the file, behind the chunk's head and at a word: as many as there are, up to size. The second
 * notes no damage; *error, unless NULL: an errno, or 0.
 */
size_t read_chunks_read(
	struct read_chunks *chunks, const struct read_chunk *chunk, void *to, size_t size, uint64_t offset);
size_t read_chunks_look_at(struct read_chunks *chunks, const struct read_chunk *chunk, void *to, size_t size,
	uint64_t offset, int *error);

/* A word that may be about to be written. */
struct read_chunk_hole {
	uint64_t pos;	/* in the chunk; 0: none */
	uint64_t since; /* ns: when it was seen first */
	uint64_t after; /* ns: of the caller. So long after that, if words came behind it, nobody writes it any more */
};

/*
 * Of a chunk that grows, `have` words from position pos on, and behind them unwritten ones, `whole` in all: how many of
 * them, from the first on, are events, or will never be. One that was not written yet is waited for: *wait is set. Its
 * thread may not run for any time; so as long as nothing is behind it that has no end. With words behind it, its writer
 * was interrupted by a handler, which may have left by a jump: then the end is hole->after, at another look.
 */
size_t read_chunk_settled(const struct read_chunk *chunk, const uint64_t *words, size_t have, size_t whole,
	uint64_t pos, struct read_chunk_hole *hole, bool *wait);

#endif
