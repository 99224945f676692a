/* SPDX-License-Identifier: MIT */
/*
 * The events of one thread record, from its first chunk to its last: the words that tool/read/stream.h reads, decoded by
 * tool/read/decode.h.
 *
 *	if (events_open(&events, process, number, STREAM_BLOCK)) {
 *		events_read(&events, event, other, user);	to the end, or until a hook returns true; then again
 *		events_close(&events);
 *	}
 *
 * What the hook `other` is told beyond control words, in this order where a chunk begins:
 *	DECODED_THREAD	the chunk is of another thread than the one before it, or is the first one
 *	DECODED_GAP	events.missing chunks are not there any more (0: nobody knows how many) before the one that
 *			begins
 *	DECODED_STACK	it begins on another stack than the one before it ended on
 *	DECODED_CHUNK	events.stream.chunk.head. The hook may leave it out: events_skip_chunk()
 * and where one ends:
 *	DECODED_LOST	events.stream.chunk.head.lost events were lost after those that were read. In version 1 they
 *			are to be added to those of the process's head, else they are among these
 * decoder.now is the time of all these.
 */
#ifndef XAUDIT_TOOL_READ_EVENTS_H
#define XAUDIT_TOOL_READ_EVENTS_H

#include "tool/read/decode.h"
#include "tool/read/stream.h"

struct events {
	struct stream stream;
	struct decoder decoder;
	uint64_t missing; /* with DECODED_GAP */
	uint64_t told;	  /* of stream.chunks.overwritten, those that were in a DECODED_GAP */
	bool begun;
	bool lost, thread, gap, stack, chunk; /* are to be told next */
};

/* As stream_open(). */
bool events_open(struct events *events, struct process *process, unsigned number, size_t block);
void events_close(struct events *events);

/* Notes damage at word `at` of the block, as the hook `event` was told it. */
void events_damage(const struct events *events, size_t at, const char *what);

/*
 * Goes to the next block, or what else comes next; sets lost, thread, gap and chunk. STREAM_END: there is nothing more.
 */
enum stream_step events_step(struct events *events);

/* Words of the chunk that begins, and from a hook's DECODED_CHUNK on: leaves them all out. */
uint64_t events_chunk_words(const struct events *events);
void events_skip_chunk(struct events *events);

/*
 * Returns false at the end, true where a hook said stop. To be called with hooks that the compiler knows, as
 * decode_block().
 */
DECODE_INLINE bool events_read(struct events *events, decode_event take, decode_other other, void *user)
{
	for (;;) {
		/* They were the thread's that came before, if there was one. */
		if (decode_unlikely(events->lost) && events->decoder.tid) {
			events->lost = false;
			if (other(user, DECODED_LOST))
				return true;
		}
		if (decode_unlikely(events->thread)) {
			events->thread = false;
			events->decoder.tid = events->stream.chunk.head.tid;
			events->decoder.stack = 0;
			if (other(user, DECODED_THREAD))
				return true;
		}
		if (decode_unlikely(events->lost)) {
			events->lost = false;
			if (other(user, DECODED_LOST))
				return true;
		}
		if (decode_unlikely(events->gap)) {
			events->gap = false;
			if (other(user, DECODED_GAP))
				return true;
		}
		if (decode_unlikely(events->stack)) {
			events->stack = false;
			uint32_t stack = events->stream.chunk.head.stack & TRACE_ID_MASK;
			if (stack != events->decoder.stack) {
				events->decoder.stack = stack;
				if (other(user, DECODED_STACK))
					return true;
			}
		}
		if (decode_unlikely(events->chunk)) {
			events->chunk = false;
			if (other(user, DECODED_CHUNK))
				return true;
		}
		if (decode_block(&events->decoder, take, other, user))
			return true;
		switch (events_step(events)) {
		case STREAM_END:
			return false;
		case STREAM_FINISH:
			if (events->stream.chunk.head.version == 1 && events->stream.chunk.head.lost &&
				other(user, DECODED_LOST))
				return true;
			break;
		default:
			break;
		}
	}
}

#endif
