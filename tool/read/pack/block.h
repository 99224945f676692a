/* SPDX-License-Identifier: MIT */
/*
 * One block of a packed trace (format/pack.h): from its bytes in the file to its content. Nothing in the bytes is
 * believed: what is wrong is returned as words about the block, or NULL;
 * in any case no more than frame.raw bytes are written.
 *
 * An unpacker is used by one thread at a time. Begin with one that is all 0.
 */
#ifndef XAUDIT_TOOL_READ_PACK_BLOCK_H
#define XAUDIT_TOOL_READ_PACK_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/pack.h"
#include "tool/read/pack/events.h"

struct ZSTD_DCtx_s;

struct pack_unpacker {
	struct ZSTD_DCtx_s *context;
	struct pack_coder coder;
};

struct pack_pieces {
	uint32_t offset[PACK_PIECES]; /* in the block */
	uint8_t data[PACK_PIECES][PACK_PIECE];
};
#define PACK_PIECES_SIZE(count) ((count) * (sizeof(uint32_t) + PACK_PIECE))

/* The most bytes that the pieces may take in the file: these are what zstd makes of so many bytes at the worst. */
#define PACK_PIECES_BOUND (PACK_PIECES_SIZE(PACK_PIECES) + 512)

/* The frame's checksum of itself. */
uint64_t pack_frame_check(const struct pack_frame *frame);

/* Is it a frame, and if it is a block, one with possible sizes? */
bool pack_frame_is_good(const struct pack_frame *frame);

/* Returns false if there is no memory. */
bool pack_unpacker_begin(struct pack_unpacker *unpacker);
void pack_unpacker_end(struct pack_unpacker *unpacker);

/* The words if memory ran out. */
extern const char pack_no_memory[];

/* bytes: the frame.size bytes after a good frame of a block. to: room for frame.raw bytes. */
const char *pack_block_unpack(
	struct pack_unpacker *unpacker, const struct pack_frame *frame, const uint8_t *bytes, void *to);

/* bytes: the first frame.piece_size of them. */
const char *pack_pieces_unpack(struct pack_unpacker *unpacker, const struct pack_frame *frame, const uint8_t *bytes,
	struct pack_pieces *pieces);

#endif
