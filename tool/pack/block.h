/* SPDX-License-Identifier: MIT */
/*
 * One block of a packed trace (format/pack.h): from its content to its bytes in the file; the other way is
 * tool/read/pack/block.h.
 *
 * A packer is used by one thread at a time. Begin with one that is all 0, but for its level.
 */
#ifndef XAUDIT_TOOL_PACK_BLOCK_H
#define XAUDIT_TOOL_PACK_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/read/pack/block.h"

#define PACK_LEVELS 19 /* of libzstd */
#define PACK_LEVEL  1  /* where none is said */

struct ZSTD_CCtx_s;

struct pack_packer {
	struct ZSTD_CCtx_s *context;
	struct pack_coder coder;
	uint8_t *content; /* room for the largest block */
	uint8_t *out;	  /* and for what comes of it, frame and padding included */
	int level;	  /* of zstd, from 1 to PACK_LEVELS */
};

/* Gives it room for blocks of that size. Returns false if there is no memory. */
bool pack_packer_begin(struct pack_packer *packer, size_t most);
void pack_packer_end(struct pack_packer *packer);

/*
 * Packs the first `raw` bytes of packer->content, which are those of the member from that offset on. Returns how many
 * bytes of packer->out are the block, a multiple of 8.
 */
size_t pack_block(struct pack_packer *packer, uint32_t member, uint64_t offset, size_t raw);

/* Completes a frame of frame.size bytes that are stored as they are. */
void pack_frame_stored(struct pack_frame *frame, const void *content);

#endif
