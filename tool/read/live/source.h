/* SPDX-License-Identifier: MIT */
/*
 * The events of one thread record while it grows, one by one, in the order in which they were stored: nothing is left
 * out but what is not there any more. (tool/read/api/follow.h, which counts, leaves out what it has no time for.)
 *
 *	read_source_open(&s, process, number);
 *	for (each look)
 *		for (; read_source_next(&s); s.has = false)
 *			s.head is the next event
 *	read_source_close(&s);
 *
 * Calls that are shorter than the rules' time, or whose results do not fulfil a condition, are taken back: if nothing
 * came behind their entries, the next events are stored in their place. So of entries that are the last events, it is
 * looked whether they are still there when words behind them were read: READ_SOURCE_BACK.
 *
 * A word that was not written yet is waited for (chunk_words.h) until its chunk, or the process, has ended. What can't
 * be read is no damage here, as it may be about to be written: it is not there.
 *
 * One thread (tool/read/folder.h).
 */
#ifndef XAUDIT_TOOL_READ_LIVE_SOURCE_H
#define XAUDIT_TOOL_READ_LIVE_SOURCE_H

#include "tool/read/events/chunk_words.h"
#include "tool/read/events/chunks.h"
#include "tool/read/events/decode.h"

#define READ_SOURCE_BLOCK (64u << 10) /* bytes */

/* What is to be told, in this order, where a chunk begins; and, beyond, what the decoder tells. */
enum read_source_what {
	READ_SOURCE_LOST,   /* count events were lost here */
	READ_SOURCE_THREAD, /* what follows is of thread tid, which has no open calls on a stack without number */
	READ_SOURCE_GONE,   /* chunks are missing here: count of them */
	READ_SOURCE_STACK,  /* what follows is on decoder.stack */
	READ_SOURCE_PART,   /* as read_decoder.calls and outer tell */
	READ_SOURCE_CALL,   /* type, id, values */
	READ_SOURCE_CRASH,  /* count: the signal */
	READ_SOURCE_PROBE,  /* id, values */
	READ_SOURCE_BACK,   /* the innermost call, the last event, was taken back, as if it had never been */
};

/* Where an entry is: it may be taken back, or given up, as long as its call is open. */
struct read_source_entry {
	uint64_t seq; /* of the chunk */
	uint64_t pos; /* in it */
	uint64_t word;
};

struct read_source_event {
	enum read_source_what what;
	enum trace_type type;
	uint32_t id;
	uint64_t ticks;
	uint64_t count;
	const struct read_layout *layout; /* of the values, or NULL */
	const uint8_t *bytes;		  /* until the next read_source_next() */
	uint32_t size;
	bool flawed;
	struct read_chain chain; /* as long */
	struct read_source_entry entry; /* of an entry, or of what was taken back */
};

struct read_source {
	struct read_chunks chunks;
	unsigned number;
	bool begun;
	struct read_chunk chunk; /* the present one */
	uint64_t first;		 /* the chunk to begin with; or READ_CHUNKS_NEWEST */
	uint64_t pos;		 /* in it, as of plain words: of the word after the block */
	struct read_chunk_hole hole;
	struct read_source_entry *run; /* entries of the present chunk that nothing but such came behind */
	unsigned runs, run_room;
	bool done;		 /* all of it was taken */
	bool ended;		 /* of live.c: nobody writes any more */
	unsigned idle, missed; /* looks at it that found nothing; looks for the next one, or for this, that did not */
	uint64_t *words;	 /* the block: the decoder has it */
	uint64_t blocks;	 /* that were read up to now */
	struct read_decoder decoder;
	struct read_chains chains; /* that the chunk tells of */
	unsigned due; /* bits 1 << what: to be told before the block */
	uint64_t lost, gone;
	uint32_t tid;
	struct read_source_event head;
	bool has; /* head is there, and was not taken */
	uint64_t given; /* of t<n>, what live.c has given back */
};

/* Reads from its first chunk on, or from the newest that it has now. Returns false without memory, which is noted. */
bool read_source_open(struct read_source *source, struct read_process *process, unsigned number, bool newest);
void read_source_close(struct read_source *source);

/* Makes the next event the head, unless there is one. Returns false: there is none now. */
bool read_source_next(struct read_source *source);

/* Is the entry still there? Yes, if its chunk is not there any more. */
bool read_source_has(struct read_source *source, const struct read_source_entry *entry);

/* How many bytes of it, about, were recorded but not taken yet. */
uint64_t read_source_behind(struct read_source *source);

/* All that t<n> has before this offset was taken. */
uint64_t read_source_taken(const struct read_source *source);

/* What t<n> had before this offset was given back, or is about to be. */
void read_source_given(struct read_source *source, uint64_t taken);

#endif
