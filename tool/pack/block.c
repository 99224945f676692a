/* SPDX-License-Identifier: MIT */
#include "tool/pack/block.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "format/trace.h"
#include "tool/read/pack/hash.h"

/* Where nothing is foreseen zstd has little to find, but in other files than those of events it has. */
#define LEVEL_PLAIN 3

static size_t padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

bool pack_packer_begin(struct pack_packer *packer, size_t most)
{
	packer->context = ZSTD_createCCtx();
	packer->content = malloc(most);
	/* What is larger than its content is not kept; for a moment there may be two. */
	packer->out = malloc(padded(sizeof(struct pack_frame) + PACK_PIECES_BOUND + 2 * most));
	return packer->context && packer->content && packer->out &&
	       pack_coder_room(&packer->coder, most);
}

void pack_packer_end(struct pack_packer *packer)
{
	ZSTD_freeCCtx(packer->context);
	free(packer->content);
	free(packer->out);
	pack_coder_free(&packer->coder);
}

/* Compresses, or stores where that is not smaller. Returns the bytes that it took; 0: there is no room. */
static size_t deflate(struct pack_packer *packer, uint8_t *to, size_t room, const void *from, size_t raw, int level)
{
	/* With room for less than the content, zstd fails where it would not be smaller. */
	size_t size = ZSTD_compressCCtx(packer->context, to, room < raw ? room : raw - 1, from, raw, level);

	if (!ZSTD_isError(size))
		return size;
	if (room < raw)
		return 0;
	memcpy(to, from, raw);
	return raw;
}

/* Heads of chunks, which readers want before they want the rest. Returns the bytes that they took. */
static size_t put_pieces(struct pack_packer *packer, struct pack_frame *frame, uint8_t *to)
{
	uint8_t raw[PACK_PIECES_SIZE(PACK_PIECES)], piece[PACK_PIECES][PACK_PIECE];
	uint32_t offset[PACK_PIECES], n = 0;
	const uint32_t magic = TRACE_CHUNK_MAGIC;

	for (uint64_t at = (0 - frame->offset) % TRACE_CHUNK_MIN; at + PACK_PIECE <= frame->raw && n < PACK_PIECES;
		at += TRACE_CHUNK_MIN) {
		if (memcmp(packer->content + at, &magic, sizeof(magic)))
			continue;
		memcpy(piece[n], packer->content + at, PACK_PIECE);
		offset[n++] = (uint32_t)at;
	}
	frame->pieces = n;
	if (!n)
		return 0;
	memcpy(raw, offset, n * sizeof(*offset));
	memcpy(raw + n * sizeof(*offset), piece, n * sizeof(*piece));
	size_t size = PACK_PIECES_SIZE(n);
	frame->piece_check = (uint32_t)pack_hash(raw, size);
	return deflate(packer, to, PACK_PIECES_BOUND, raw, size, LEVEL_PLAIN);
}

/*
 * Returns the bytes that it took; 0: it is not smaller than the content, or little of it is events. *odd: perhaps it is
 * not, for ids are large.
 */
static size_t put_events(struct pack_packer *packer, uint8_t *to, size_t raw, bool *odd)
{
	struct pack_stream stream[PACK_STREAMS];
	size_t length[PACK_STREAMS], at = sizeof(stream);

	pack_events_split(&packer->coder, packer->content, raw, length);
	if (length[PACK_RAW] > raw / 2)
		return 0;
	*odd = length[PACK_WIDE] > raw / 16;
	for (int i = 0; i < PACK_STREAMS; i++) {
		stream[i] = (struct pack_stream){ .raw = (uint32_t)length[i] };
		if (!length[i])
			continue;
		size_t size = at < raw ? deflate(packer, to + at, raw - at, packer->coder.stream[i], length[i],
						 packer->level)
				       : 0;
		if (!size)
			return 0;
		stream[i].size = (uint32_t)size;
		at += size;
	}
	memcpy(to, stream, sizeof(stream));
	return at;
}

static void finish(struct pack_frame *frame, const void *content)
{
	frame->magic = PACK_FRAME_MAGIC;
	frame->content = pack_hash(content, frame->raw);
	frame->check = pack_frame_check(frame);
}

void pack_frame_stored(struct pack_frame *frame, const void *content)
{
	frame->method = PACK_STORED;
	frame->raw = frame->size;
	finish(frame, content);
}

size_t pack_block(struct pack_packer *packer, uint32_t member, uint64_t offset, size_t raw)
{
	struct pack_frame frame = { .type = PACK_BLOCK, .member = member, .offset = offset, .raw = (uint32_t)raw };
	uint8_t *to = packer->out + sizeof(frame);

	frame.piece_size = (uint32_t)put_pieces(packer, &frame, to);
	to += frame.piece_size;
	bool odd = false;
	size_t size = raw > sizeof(struct pack_stream) * PACK_STREAMS ? put_events(packer, to, raw, &odd) : 0;
	frame.method = PACK_EVENTS;
	if (!size || odd) {
		int level = packer->level > LEVEL_PLAIN ? packer->level : LEVEL_PLAIN;
		size_t plain = deflate(packer, to + size, raw, packer->content, raw, level);
		if (!size || plain < size) {
			memmove(to, to + size, plain);
			size = plain;
			frame.method = size < raw ? PACK_ZSTD : PACK_STORED;
		}
	}
	frame.size = frame.piece_size + (uint32_t)size;
	finish(&frame, packer->content);
	memcpy(packer->out, &frame, sizeof(frame));
	size_t all = sizeof(frame) + frame.size;
	memset(packer->out + all, 0, padded(all) - all);
	return padded(all);
}
