/* SPDX-License-Identifier: MIT */
/*
 * Where the chunks of a thread record are: no other place of the command knows in which files they lie. Here kinds of
 * files are letters: 't' is t<n>[.<p>], 'm' the record's places in meta. Both are read as one in the order of the
 * chunks' numbers.
 *
 * To read all of a record, open it by read_chunks_open() and go through it by read_chunks_next(); chunks count that
 * were there when it was opened. To follow a record that grows, open it by read_chunks_follow() and ask for chunks by
 * number: read_chunks_find().
 *
 * A chunk is in meta, or in t<n>[.<p>], or in both. In meta, chunks of a record overwrite older ones of that record,
 * or of one whose process is gone; in t<n> they stay. There their words may be dense (format/dense.h):
 * read_chunks_read() (chunk_words.h) gives plain ones, and all offsets are as if they were.
 *
 * A chunk that is `reused` may be overwritten while it is read: what was read of it counts only if read_chunk_again()
 * says afterwards that it is still there.
 */
#ifndef XAUDIT_TOOL_READ_CHUNKS_H
#define XAUDIT_TOOL_READ_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"
#include "tool/read/events/copies.h"
#include "tool/read/process.h"
#include "tool/read/trace_file.h"

struct read_chunk {
	struct trace_chunk head;
	struct read_file *file;
	char kind;	/* 't' or 'm' */
	bool reused;	/* another chunk will be written to its place */
	uint64_t begin; /* in the file */
	uint64_t limit; /* bytes that its place has */
	uint64_t room;	/* how many of them the file has, or had when it was opened */
	uint64_t token; /* the value of words that were not written, or 0 */
};

#define READ_CHUNKS_NOWHERE UINT64_MAX

/* Where a chunk is. */
struct read_chunk_place {
	uint64_t seq;
	uint64_t at;   /* in meta, or READ_CHUNKS_NOWHERE */
	uint64_t copy; /* in t<n>, or READ_CHUNKS_NOWHERE */
};

struct read_chunks {
	struct read_process *process;
	unsigned number;	 /* of the thread record */
	bool grows;		 /* read_chunks_follow(): chunks are looked for again and again */
	struct read_file *file; /* t<n>; NULL: there is no such file */
	struct read_file *meta; /* as long as the process is open */
	uint64_t disk;		 /* bytes that the record takes on disk; of its places in meta, without holes */
	struct read_copies copies; /* of t<n>, as far as it was looked at */
	/* The chunks of meta and of t<n>, by number; as they were when it was opened. */
	struct read_chunk_place *place;
	unsigned places, next_place;
	uint64_t seq;	      /* of the chunk that should come next */
	uint64_t overwritten; /* chunks before the present one that are not there any more */
	bool gap;	      /* chunks are missing right before it: calls may have begun or ended in them */
	struct read_dense *dense; /* how far dense words were read; NULL: there were none yet */
};

/* Returns false if there is no record, or it can't be read, which is noted as damage. */
bool read_chunks_open(struct read_chunks *chunks, struct read_process *process, unsigned number);
void read_chunks_close(struct read_chunks *chunks);

/* Goes to the next chunk whose head can be read, in the order of their numbers. Returns false if there are no more. */
bool read_chunks_next(struct read_chunks *chunks, struct read_chunk *chunk);

/* Is there a chunk after the present one? */
bool read_chunks_more(struct read_chunks *chunks);

/* The present chunk is not there any more: the next one has a gap before it. */
void read_chunks_gone(struct read_chunks *chunks);

/*
 * Begins to follow a record, whose files read_chunks_look() opens as read_process_list_files() has seen them. It notes
 * no damage.
 */
void read_chunks_follow(struct read_chunks *chunks, struct read_process *process, unsigned number);
void read_chunks_look(struct read_chunks *chunks);

#define READ_CHUNKS_NEWEST UINT64_MAX

/* Looks for the chunk of that number. Returns false, and leaves *chunk alone, if it is not there. */
bool read_chunks_find(struct read_chunks *chunks, uint64_t seq, struct read_chunk *chunk);

/*
 * Looks for the oldest chunk above that number in the newer half of the places that are reused: it will not be
 * overwritten at once. Otherwise as read_chunks_find().
 */
bool read_chunks_find_above(struct read_chunks *chunks, uint64_t seq, struct read_chunk *chunk);

/* As read_chunks_find_above(), in t<n>. */
bool read_chunks_find_copy_above(struct read_chunks *chunks, uint64_t seq, struct read_chunk *chunk);

/*
 * The chunk, of kind 'm', is not there any more. Returns whether t<n> has it; then *chunk is changed to lie there. Of
 * its head only `used` changes, if it was not finished, and what tells of dense words.
 */
bool read_chunks_find_copy(struct read_chunks *chunks, struct read_chunk *chunk);

/* All that t<n> has before this offset has numbers below seq; about, and rather too little. */
uint64_t read_chunks_taken(const struct read_chunks *chunks, uint64_t seq);

/* What t<n> had before the offset is gone. */
void read_chunks_forget(struct read_chunks *chunks, uint64_t offset);

static inline bool read_chunk_is_dense(const struct trace_chunk *head)
{
	return head->version == TRACE_CHUNK_DENSE;
}

/* Was this word of the chunk not written yet? A payload may look like that, too. */
static inline bool read_chunk_is_unwritten(const struct read_chunk *chunk, uint64_t word)
{
	return !word || word == chunk->token;
}

/* Notes damage at `offset` of the chunk's file. */
void read_chunks_damage(
	const struct read_chunks *chunks, const struct read_chunk *chunk, uint64_t offset, const char *what);

#endif
