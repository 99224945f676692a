/* SPDX-License-Identifier: MIT */
/*
 * The events of one thread record, from its first chunk to its last: the words that tool/read/events/stream.h reads,
 * decoded by tool/read/events/decode.h.
 *
 *	if (read_events_open(&events, process, number, READ_STREAM_BLOCK)) {
 *		read_events_all(&events, event, other, user);	to the end, or until a hook returns true; then again
 *		read_events_close(&events);
 *	}
 *
 * Beyond control words the hook `other` is told, where a chunk begins, in this order:
 *	READ_DECODED_LOST	events.stream.chunk.head.lost events of the thread before it were lost; they are among
 *				those of the process's head. Of the first chunk this comes after THREAD
 *	READ_DECODED_THREAD	the chunk is of another thread than the one before it, or is the first one
 *	READ_DECODED_GAP	events.missing chunks are gone before the one that begins (0: an unknown number)
 *	READ_DECODED_STACK	it begins on another stack than the one before it ended on
 *	READ_DECODED_CHUNK	events.stream.chunk.head. The hook may leave it out: read_events_skip_chunk()
 * decoder.now is the time of all these.
 */
#ifndef XAUDIT_TOOL_READ_EVENTS_H
#define XAUDIT_TOOL_READ_EVENTS_H

#include "tool/read/events/decode.h"
#include "tool/read/events/stream.h"

struct read_events {
	struct read_stream stream;
	struct read_decoder decoder;
	struct read_chains chains; /* that the chunk tells of */
	uint64_t missing; /* with READ_DECODED_GAP */
	uint64_t told;	  /* those of stream.chunks.overwritten that a READ_DECODED_GAP has told */
	bool begun;
	bool lost, thread, gap, stack, chunk; /* will be told next */
	/* The caller's: called for each block that was read, after its words were taken. NULL: nothing. */
	void (*block)(void *user, uint64_t bytes);
	void *block_user;
};

/* As read_stream_open(). */
bool read_events_open(struct read_events *events, struct read_process *process, unsigned number, size_t block);
void read_events_close(struct read_events *events);

#define READ_NO_PROBE "an event of a probe that meta does not name" /* what readers call that damage */

/* Notes damage at word `at` of the block, as the hook `event` was told it. */
void read_events_damage(const struct read_events *events, size_t at, const char *what);

/*
 * Goes to the next block, or to the next chunk's begin or end; sets lost, thread, gap and chunk. READ_STREAM_END: there
 * is nothing more.
 */
enum read_stream_step read_events_step(struct read_events *events);

/* How many words the chunk has that begins; and, for a hook that is told READ_DECODED_CHUNK: leaves them all out. */
uint64_t read_events_chunk_words(const struct read_events *events);
void read_events_skip_chunk(struct read_events *events);

/* Tells what comes before the words of the block. Returns true if the hook said stop. */
READ_INLINE bool read_events_tell(struct read_events *events, read_decode_other other, void *user)
{
	/* The lost events were those of the thread before, if there was one. */
	if (read_unlikely(events->lost) && events->decoder.tid) {
		events->lost = false;
		if (other(user, READ_DECODED_LOST))
			return true;
	}
	if (read_unlikely(events->thread)) {
		events->thread = false;
		events->decoder.tid = events->stream.chunk.head.tid;
		events->decoder.stack = 0;
		if (other(user, READ_DECODED_THREAD))
			return true;
	}
	if (read_unlikely(events->lost)) {
		events->lost = false;
		if (other(user, READ_DECODED_LOST))
			return true;
	}
	if (read_unlikely(events->gap)) {
		events->gap = false;
		if (other(user, READ_DECODED_GAP))
			return true;
	}
	if (read_unlikely(events->stack)) {
		events->stack = false;
		uint32_t stack = events->stream.chunk.head.stack & TRACE_ID_MASK;
		if (stack != events->decoder.stack) {
			events->decoder.stack = stack;
			if (other(user, READ_DECODED_STACK))
				return true;
		}
	}
	if (read_unlikely(events->chunk)) {
		events->chunk = false;
		if (other(user, READ_DECODED_CHUNK))
			return true;
	}
	return false;
}

/* Goes on behind the words of the block, which were taken. Returns false at the end. */
READ_INLINE bool read_events_next(struct read_events *events)
{
	if (read_unlikely(events->block) && events->decoder.at)
		events->block(events->block_user, events->decoder.at * sizeof(uint64_t));
	return read_events_step(events) != READ_STREAM_END;
}

/*
 * Goes through the events. Returns false at the end, true if a hook said stop. To be called with hooks that the
 * compiler knows, as read_decode_block(). Code with a loop of its own over the words of a block calls the two above.
 */
READ_INLINE bool read_events_all(
	struct read_events *events, read_decode_event take, read_decode_other other, void *user)
{
	do {
		if (read_events_tell(events, other, user) ||
			read_decode_block(&events->decoder, take, other, user))
			return true;
	} while (read_events_next(events));
	return false;
}

#endif
