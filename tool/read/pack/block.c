/* SPDX-License-Identifier: MIT */
#include "tool/read/pack/block.h"

#include <string.h>
#include <zstd.h>

#include "tool/read/pack/hash.h"

const char pack_no_memory[] = "could not be read: out of memory";

static const char damaged[] = "is damaged", wrong_sum[] = "has another checksum";

uint64_t pack_frame_check(const struct pack_frame *frame)
{
	size_t from = offsetof(struct pack_frame, type);

	return pack_hash((const uint8_t *)frame + from, sizeof(*frame) - from);
}

bool pack_frame_is_good(const struct pack_frame *frame)
{
	if (frame->magic != PACK_FRAME_MAGIC || frame->check != pack_frame_check(frame))
		return false;
	return frame->type != PACK_BLOCK ||
	       (frame->raw && frame->raw <= PACK_BLOCK_MAX && frame->pieces <= PACK_PIECES &&
		       frame->piece_size <= PACK_PIECES_BOUND && frame->piece_size < frame->size &&
		       frame->size - frame->piece_size <= frame->raw &&
		       frame->offset <= (uint64_t)INT64_MAX - frame->raw);
}

bool pack_unpacker_begin(struct pack_unpacker *unpacker)
{
	if (!unpacker->context)
		unpacker->context = ZSTD_createDCtx();
	return unpacker->context;
}

void pack_unpacker_end(struct pack_unpacker *unpacker)
{
	ZSTD_freeDCtx(unpacker->context);
	pack_coder_free(&unpacker->coder);
	unpacker->context = NULL;
}

/* Decompresses to exactly so many bytes. */
static bool inflate(struct pack_unpacker *unpacker, void *to, size_t raw, const uint8_t *from, size_t size)
{
	if (size != raw)
		return ZSTD_decompressDCtx(unpacker->context, to, raw, from, size) == raw;
	memcpy(to, from, size);
	return true;
}

static const char *unpack_events(
	struct pack_unpacker *unpacker, const uint8_t *bytes, size_t size, void *to, size_t raw)
{
	struct pack_stream stream[PACK_STREAMS];
	size_t length[PACK_STREAMS];

	if (!pack_coder_room(&unpacker->coder, raw))
		return pack_no_memory;
	if (size < sizeof(stream))
		return damaged;
	memcpy(stream, bytes, sizeof(stream));
	bytes += sizeof(stream);
	size -= sizeof(stream);
	for (int i = 0; i < PACK_STREAMS; i++) {
		length[i] = stream[i].raw;
		if (stream[i].size > size || length[i] > pack_stream_room(i, raw / 8) ||
			!inflate(unpacker, unpacker->coder.stream[i], length[i], bytes, stream[i].size))
			return damaged;
		bytes += stream[i].size;
		size -= stream[i].size;
	}
	return pack_events_join(&unpacker->coder, length, to, raw) ? NULL : damaged;
}

const char *pack_block_unpack(
	struct pack_unpacker *unpacker, const struct pack_frame *frame, const uint8_t *bytes, void *to)
{
	size_t size = frame->size - frame->piece_size;
	const char *wrong = NULL;

	bytes += frame->piece_size;
	if (frame->method == PACK_EVENTS)
		wrong = unpack_events(unpacker, bytes, size, to, frame->raw);
	else if (frame->method == PACK_ZSTD)
		wrong = ZSTD_decompressDCtx(unpacker->context, to, frame->raw, bytes, size) == frame->raw ? NULL
													  : damaged;
	else if (frame->method != PACK_STORED)
		wrong = "is packed in a way that this xaudit does not know";
	else if (size == frame->raw)
		memcpy(to, bytes, size);
	else
		wrong = damaged;
	return wrong ? wrong : pack_hash(to, frame->raw) == frame->content ? NULL : wrong_sum;
}

const char *pack_pieces_unpack(struct pack_unpacker *unpacker, const struct pack_frame *frame, const uint8_t *bytes,
	struct pack_pieces *pieces)
{
	uint8_t raw[PACK_PIECES_SIZE(PACK_PIECES)];
	size_t size = PACK_PIECES_SIZE(frame->pieces), words = frame->pieces * sizeof(uint32_t);

	if (!inflate(unpacker, raw, size, bytes, frame->piece_size) ||
		(uint32_t)pack_hash(raw, size) != frame->piece_check)
		return damaged;
	memcpy(pieces->offset, raw, words);
	memcpy(pieces->data, raw + words, size - words);
	return NULL;
}
