/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a packed file: frames, and blocks as they are unpacked, of which the last ones stay in memory (see
 * tool/read/pack/pack.h). One thread.
 */
#ifndef XAUDIT_TOOL_READ_PACK_CACHE_H
#define XAUDIT_TOOL_READ_PACK_CACHE_H

#include "tool/read/pack/block.h"
#include "tool/read/pack/pack.h"

/* Bytes of a block that is in memory. */
struct pack_cached {
	struct pack_block *block;
	uint8_t *data;
	size_t room;
	bool done; /* it was read up to its end */
	struct pack_cached *newer, *older;
};

struct pack_reader {
	int fd;
	uint64_t size; /* of the file */
	struct pack_unpacker unpacker;
	uint8_t *bytes; /* of the block that is being unpacked */
	size_t room;
	struct pack_cached *newest, *oldest;
	size_t cached; /* bytes */
	struct pack_pieces pieces;
	const struct pack_block *pieces_of; /* NULL: of none */
};

/* NULL: there is no memory. The descriptor stays the caller's until pack_reader_close(). */
struct pack_reader *pack_reader_open(int fd, uint64_t size);
void pack_reader_close(struct pack_reader *reader);

/* As pread(), for all of it: false if it can't be read. */
bool pack_reader_get(const struct pack_reader *reader, void *to, size_t size, uint64_t at);

/* The content of the block, valid until the next call. NULL: it is bad, which is noted, or memory ran out. */
struct pack_cached *pack_load(struct pack *pack, struct pack_block *block);

/* Copies from a piece of the block. Returns false if it has none there. */
bool pack_load_piece(struct pack *pack, const struct pack_block *block, void *to, size_t size, uint64_t offset);

/* All of the block was read: it gives way to the next one. */
void pack_done(struct pack_reader *reader, struct pack_cached *cached);

#endif
