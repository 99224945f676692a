/* SPDX-License-Identifier: MIT */
/*
 * The words of one thread record: chunk by chunk, in blocks. tool/read/events.h makes events of them. Its two files,
 * t<n> and r<n> (the flight recorder), are read as one, in the order of the chunks' numbers.
 *
 *	read_stream_open(&s, process, number, STREAM_BLOCK);
 *	while ((step = read_stream_step(&s)) != STREAM_END)
 *		switch (step) {
 *		case STREAM_CHUNK:  a chunk begins: s.chunk.head
 *		case STREAM_WORDS:  s.words[s.at ... s.have-1] are its next words; move s.at over what was taken
 *		case STREAM_FINISH: the chunk's words end; s.chunk.head.lost events were lost after them
 *		}
 *	read_stream_close(&s);
 *
 * A control word whose payload is not in the block any more is left in place (s.at is not moved over it); the next step
 * brings it again with more behind it. If a step brings nothing new, the chunk ends in the middle of it.
 *
 * A file is read as far as it reached when it was opened, so that reading the trace of a fast process comes to an
 * end. A chunk of the flight recorder may be overwritten while it is read: a block counts only if the chunk's head is
 * the same behind it. Of a chunk that is not finished, words count as far as they were there when its reading began,
 * and up to the first that changed between two readings; newer chunks count if they were there by then. So all is
 * what was there at one moment. A control word whose payload was not whole then is not there either.
 */
#ifndef XAUDIT_TOOL_READ_STREAM_H
#define XAUDIT_TOOL_READ_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"
#include "tool/read/chunks.h"

#define STREAM_BLOCK (256u << 10) /* bytes: stays in the level 2 cache */

enum read_stream_step { STREAM_END, STREAM_CHUNK, STREAM_WORDS, STREAM_FINISH };

struct read_stream {
	struct read_chunks chunks;
	struct read_chunk chunk; /* the one at hand */
	bool in_chunk;
	bool changing;	/* its words end where they were being written when we read them */
	uint64_t pos;	/* in its file: where the words behind the block begin */
	uint64_t end;	/* of its words */
	uint64_t there; /* if it is not finished: behind it there was nothing but zeros when its reading began */
	uint64_t *words;
	size_t at, have, room;
};

/* Returns false, after noting damage where it is some, if there is no such file, or none that can be read. */
bool read_stream_open(struct read_stream *stream, struct read_process *process, unsigned number, size_t block);
enum read_stream_step read_stream_step(struct read_stream *stream);
void read_stream_close(struct read_stream *stream);

/* Where in the file word `at` of the block lies. */
uint64_t read_stream_offset(const struct read_stream *stream, size_t at);

/* Notes damage at word `at` of the block. */
void read_stream_damage(const struct read_stream *stream, size_t at, const char *what);

/* Moves over so many words of the chunk behind the block. */
void read_stream_skip(struct read_stream *stream, uint64_t words);

#endif
