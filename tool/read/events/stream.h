/* SPDX-License-Identifier: MIT */
/*
 * The words of one thread record: chunk by chunk, in blocks, in the order of the chunks' numbers (chunks.h).
 * tool/read/events/events.h makes events of them.
 *
 *	read_stream_open(&s, process, number, READ_STREAM_BLOCK);
 *	while ((step = read_stream_step(&s)) != READ_STREAM_END)
 *		switch (step) {
 *		case READ_STREAM_CHUNK:  a chunk begins: s.chunk.head
 *		case READ_STREAM_WORDS:  s.words[s.at ... s.have-1] are its next words; move s.at over what was taken
 *		case READ_STREAM_FINISH: the chunk's words end
 *		}
 *	read_stream_close(&s);
 *
 * A control word whose payload goes on after the block is left in place (s.at is not moved over it); the next step
 * brings it again, with more words after it. If a step brings nothing new, the chunk ends in the middle of the payload.
 *
 * A file is read as far as it reached when it was opened, so that reading the trace of a fast process comes to an end.
 * A chunk of a ring may be overwritten while it is read: a block counts only if the chunk's head is still
 * the same after the block was read. In a chunk that is not finished, words count that were there when its reading
 * began, up to the first that changed between two readings; newer chunks count if they were there by then. So the
 * result is what was there at one moment. A control word whose payload was not whole then does not count.
 */
#ifndef XAUDIT_TOOL_READ_STREAM_H
#define XAUDIT_TOOL_READ_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"
#include "tool/read/events/chunks.h"

#define READ_STREAM_BLOCK (128u << 10) /* bytes: stays in the level 2 cache, beside rows and histograms */

enum read_stream_step { READ_STREAM_END, READ_STREAM_CHUNK, READ_STREAM_WORDS, READ_STREAM_FINISH };

struct read_stream {
	struct read_chunks chunks;
	struct read_chunk chunk; /* the present chunk */
	bool in_chunk;
	bool changing;	/* its last words were being written when we read them */
	bool torn;	/* words of the chunk before could not be read: there is a gap */
	uint64_t pos;	/* in its file: where the words after the block begin */
	uint64_t end;	/* of its words */
	uint64_t there; /* if it is not finished: only zeros were after this when its reading began */
	uint64_t *words;
	size_t at, have, room;
};

/* Returns false if there is no such file, or it can't be read, which is noted as damage. */
bool read_stream_open(struct read_stream *stream, struct read_process *process, unsigned number, size_t block);
enum read_stream_step read_stream_step(struct read_stream *stream);
void read_stream_close(struct read_stream *stream);

/* Where in the file word `at` of the block lies. */
uint64_t read_stream_offset(const struct read_stream *stream, size_t at);

/* Notes damage at word `at` of the block. */
void read_stream_damage(const struct read_stream *stream, size_t at, const char *what);

/* Moves over that many words of the chunk after the block. */
void read_stream_skip(struct read_stream *stream, uint64_t words);

#endif
