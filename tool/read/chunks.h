/* SPDX-License-Identifier: MIT */
/*
 * Where the chunks of a thread record are: the one place of the command that knows in which files they lie. Version 1
 * has two for each record, t<n> and r<n> (the flight recorder), read as one in the order of the chunks' numbers. Here
 * kinds are told by letters: 't' and 'r'; of version 2, 'r' are the record's places in meta.
 *
 * Whoever reads all of a record opens it by read_chunks_open() and goes through it by read_chunks_next(); what counts
 * is what was there when it was opened. Whoever follows one that grows opens it by read_chunks_follow() and asks for
 * chunks by number: read_chunks_find().
 *
 * Of version 2, a chunk is in meta, or in t<n>[.<p>], or in both. In meta, all chunks of a record overwrite each other,
 * and nobody else's; in t<n> they stay.
 *
 * A chunk may be overwritten while it is read, where it is `reused`: what was read of it counts only if
 * read_chunk_again() says afterwards that it is still there.
 */
#ifndef XAUDIT_TOOL_READ_CHUNKS_H
#define XAUDIT_TOOL_READ_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"
#include "tool/read/file.h"
#include "tool/read/process.h"

struct read_chunk {
	struct trace_chunk head;
	struct read_file *file;
	char kind;	/* 't' or 'r' */
	bool reused;	/* its place is another chunk's sooner or later */
	uint64_t begin; /* in the file */
	uint64_t limit; /* bytes that its place has */
	uint64_t room;	/* of these, so many the file has, or had when it was opened */
	uint64_t token; /* what it holds where no event is, or 0 */
};

#define CHUNKS_NOWHERE UINT64_MAX

/* Where a chunk is. */
struct read_chunk_place {
	uint64_t seq;
	uint64_t at;   /* in r<n> or meta, or CHUNKS_NOWHERE */
	uint64_t copy; /* of version 2: in t<n>, or the same */
};

struct read_chunks {
	struct read_process *process;
	unsigned number;	 /* of the thread record */
	struct read_file *file; /* t<n>; NULL: there is none */
	struct read_file *ring; /* r<n>; of version 2, meta, as long as the process is open */
	uint64_t size;		 /* of t<n>, when it was opened */
	uint64_t disk;		 /* bytes that all takes on disk; of meta, those of its places that are no holes */
	uint64_t next;		 /* where the next chunk of t<n> may begin */
	/* The chunks of r<n> or meta, of version 2 those of t<n> too, by number; as they were when it was opened. */
	struct read_chunk_place *place;
	unsigned places, next_place;
	uint64_t seq;	      /* of the chunk that should come next */
	uint64_t overwritten; /* chunks before the one at hand that are not there any more */
	bool gap;	      /* some are missing right before it: calls may have begun or ended meanwhile */
};

/* Returns false, after noting damage where it is some, if there is nothing, or nothing that can be read. */
bool read_chunks_open(struct read_chunks *chunks, struct read_process *process, unsigned number);
void read_chunks_close(struct read_chunks *chunks);

/* Goes to the next chunk whose head can be read, in the order of their numbers. Returns false if there are no more. */
bool read_chunks_next(struct read_chunks *chunks, struct read_chunk *chunk);

/* Whether there is one behind the one at hand. */
bool read_chunks_more(struct read_chunks *chunks);

/* The one at hand is the newest: what is behind it was made after it was opened. */
void read_chunks_end(struct read_chunks *chunks);

/* The chunk at hand is not there any more: the next one has a gap before it. */
void read_chunks_gone(struct read_chunks *chunks);

/*
 * Begins to follow a record, whose files read_chunks_look() opens as read_process_list_files() has seen them. It says
 * nothing of damage.
 */
void read_chunks_follow(struct read_chunks *chunks, struct read_process *process, unsigned number);
void read_chunks_look(struct read_chunks *chunks);

#define CHUNKS_NEWEST UINT64_MAX

/* Looks for the chunk of that number. Returns false, and leaves *chunk alone, if it is not there. */
bool read_chunks_find(struct read_chunks *chunks, uint64_t seq, struct read_chunk *chunk);

/*
 * The oldest chunk above that number that is reused, and not about to be so: of the newer half of them. The same
 * otherwise.
 */
bool read_chunks_find_above(struct read_chunks *chunks, uint64_t seq, struct read_chunk *chunk);

/*
 * The chunk, of kind 'r', is not there any more. Returns whether t<n> has it, which then is where *chunk is. Of its
 * head, only `used` is another one, if it was not finished.
 */
bool read_chunks_find_copy(struct read_chunks *chunks, struct read_chunk *chunk);

/* Whether this word of the chunk was not written up to now. A payload may look the same. */
static inline bool read_chunk_is_unwritten(const struct read_chunk *chunk, uint64_t word)
{
	return !word || word == chunk->token;
}

/* Reads the head again. Returns false, and leaves it alone, if this is not the same chunk any more. */
bool read_chunk_again(struct read_chunk *chunk);

/* Bytes at `offset` of the file: as many as there are, up to size. */
size_t read_chunks_read(
	const struct read_chunks *chunks, const struct read_chunk *chunk, void *to, size_t size, uint64_t offset);

/* Notes damage at `offset` of the chunk's file. */
void read_chunks_damage(
	const struct read_chunks *chunks, const struct read_chunk *chunk, uint64_t offset, const char *what);

#endif
