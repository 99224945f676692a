/* SPDX-License-Identifier: MIT */
#include "tool/read/events/chunk_words.h"

#include <errno.h>
#include <string.h>

#include "tool/base/now.h"
#include "tool/read/events/chunks.h"
#include "tool/read/events/decode.h"
#include "tool/read/events/dense.h"
#include "tool/read/family.h"

size_t read_chunks_look_at(struct read_chunks *chunks, const struct read_chunk *chunk, void *to, size_t size,
	uint64_t offset, int *error)
{
	if (!read_chunk_is_dense(&chunk->head))
		return read_file_read(chunk->file, to, size, offset, error);
	uint64_t first = (offset - chunk->begin - chunk->head.head_size) / sizeof(uint64_t);
	return read_dense_words(&chunks->dense, chunk->file, chunk->begin, &chunk->head, first, to,
		       size / sizeof(uint64_t), error) *
	       sizeof(uint64_t);
}

size_t read_chunks_read(
	struct read_chunks *chunks, const struct read_chunk *chunk, void *to, size_t size, uint64_t offset)
{
	int error;
	size_t have = read_chunks_look_at(chunks, chunk, to, size, offset, &error);

	if (error == ENOMEM)
		chunks->process->family->damage->no_memory = true;
	else if (error)
		read_chunks_damage(chunks, chunk, offset + have, strerror(error));
	return have;
}

bool read_chunk_again(struct read_chunk *chunk)
{
	struct trace_chunk head;

	if (read_file_read(chunk->file, &head, sizeof(head), chunk->begin, NULL) != sizeof(head) ||
		head.magic != TRACE_CHUNK_MAGIC || head.seq != chunk->head.seq || head.clock != chunk->head.clock ||
		head.process != chunk->head.process || head.thread != chunk->head.thread)
		return false;
	chunk->head = head;
	return true;
}

/* Is a word at that position, where something is missing, to be waited for? */
static bool is_awaited(struct read_chunk_hole *hole, uint64_t pos, bool is_last)
{
	uint64_t now = tool_now();

	if (hole->pos == pos)
		return is_last || now - hole->since < hole->after;
	hole->pos = pos;
	hole->since = now;
	return true;
}

size_t read_chunk_settled(const struct read_chunk *chunk, const uint64_t *words, size_t have, size_t whole,
	uint64_t pos, struct read_chunk_hole *hole, bool *wait)
{
	size_t good = 0;

	while (good < have) {
		uint64_t word = words[good];
		size_t payload = TRACE_PAYLOAD_OF(word);
		/* In a payload, only the first word tells; where values are not written, their event's word does. */
		bool first = good + 1 < whole && read_decode_has_last(word) &&
			     read_chunk_is_unwritten(chunk, words[good + 1]);
		first |= TRACE_IS_LATE(word) && good + 1 < whole && words[good + 1] == chunk->token;
		bool is_last = good + 1 + payload >= have;
		/* A hole that was closed (CHUNK_CLOSED of the recorder's) is neither 0 nor the token. */
		bool missing = first || read_chunk_is_unwritten(chunk, word) || read_decode_is_reserved(word);
		/* What is given up right now may be taken back next, and others come there. */
		bool leaves = is_last && (read_decode_is_hole(word) || read_decode_is_given_up(word));
		if (leaves || (missing && is_awaited(hole, pos + good * 8, is_last))) {
			*wait = true;
			break;
		}
		good += 1 + payload;
	}
	return good;
}
