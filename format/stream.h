/* SPDX-License-Identifier: MIT */
/*
 * Where chunks lie in t<n> (PUBLISHING in trace.h), for who writes them and who looks for them.
 *
 * A chunk has a number, trace_chunk.copied, which is a position: 1 + offset / STREAM_UNIT. What follows it begins at
 * the next multiple of the unit behind its bytes, or farther on. So readers go from chunk to chunk: behind one there is
 * the next, or a hole, or what stream_is_chunk() does not take for one; then they look at the next unit, and so on.
 *
 * Bytes that are no head may be in the way where a chunk was being written when its writer was killed, or the disk was
 * full: words, dense or not, from a unit's beginning. A word of an event has a type in its upper bits, and what may be
 * anything, a payload, would have to hold, at a unit's beginning, a head's magic, sizes and zeros with the same process
 * and thread: so it is forged, and who can do that, the program, can write to the file, too. Readers bear any head.
 */
#ifndef XAUDIT_FORMAT_STREAM_H
#define XAUDIT_FORMAT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"

#define STREAM_UNIT 4096ul /* no chunk is smaller than that, and pages on disk are such */

/* So many bytes, up to the end of a unit. */
static inline uint64_t stream_whole(uint64_t bytes)
{
	return (bytes + STREAM_UNIT - 1) & -STREAM_UNIT;
}

/* Where the chunk of that number begins; the number is not 0. */
static inline uint64_t stream_at(uint64_t number)
{
	return (number - 1) * STREAM_UNIT;
}

/* Is it the head of a chunk in t<n>, with sizes that are possible where chunks have `size` bytes? */
static inline bool stream_is_chunk(const struct trace_chunk *head, uint64_t size)
{
	if (head->magic != TRACE_CHUNK_MAGIC || head->head_size != sizeof(*head) || head->size != size ||
		head->used > size || head->used % 8 || (head->used && head->used < sizeof(*head)))
		return false;
	if (head->version == TRACE_CHUNK_DENSE)
		return head->used && head->dense && head->dense <= head->used - sizeof(*head);
	return head->version == TRACE_VERSION;
}

/* Bytes that such a chunk takes there. */
static inline uint64_t stream_bytes(const struct trace_chunk *head)
{
	if (head->version == TRACE_CHUNK_DENSE)
		return sizeof(*head) + head->dense;
	return head->used ? head->used : head->size;
}

#endif
