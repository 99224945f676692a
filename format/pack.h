/* SPDX-License-Identifier: MIT */
/*
 * The format of a packed trace: a trace folder as one compressed file, which is read without being unpacked.
 *
 *	struct pack_head
 *	frames, each at a multiple of 8: struct pack_frame, then frame.size bytes
 *		PACK_MEMBER	a file or folder of the trace, before its first block
 *		PACK_BLOCK	content of a member: frame.raw bytes from frame.offset on
 *		...
 *		PACK_INDEX	all members and the places of all blocks
 *		PACK_END	the last frame: frame.offset tells where that of the index begins
 *
 * Everything is little endian. A file without its end, or whose index is damaged, is read by its frames from the
 * beginning: members and blocks are told by these as well. Each frame has a checksum of its own head and one of the
 * content, so that damage concerns one block.
 *
 * Members. Names are "record", "p123", "p123/meta": one or two components, none of them empty, "." or "..". Numbers are
 * those of the order in the file, from 0. What is in none of a member's extents is a hole, and reads as zeros. Blocks
 * of a member do not overlap; they may reach over holes, and have all of each extent. What no block has of an extent is
 * lost.
 *
 * Slots. A t<n> that holds nothing but chunks is stored as if these lay at multiples of their size, in the order of the
 * file; chunks of dense words (dense.h) with plain ones, version TRACE_VERSION, if the same dense words can be made of
 * these again: trace_chunk.dense stays. trace_chunk.copied is 1 + what the offset in t<n> is in units of 4096 bytes.
 * Any other file is stored as it is.
 *
 * Pieces. So that heads of chunks can be read without the block, some pieces of it are stored a second time: before the
 * content lie frame.piece_size bytes, compressed by zstd: `pieces` words of 32 bits, where each begins in the block,
 * then PACK_PIECE bytes of each.
 *
 * Events (PACK_EVENTS). Words of 64 bits are taken apart: the high half (type and id, format/trace.h) is predicted from
 * those before it, of the low half (clock) the difference to the one before is taken. What remains are streams of
 * bytes, each compressed by zstd, or left alone: PACK_STREAMS of struct pack_stream, then the streams in that order.
 * This is how they are read; all state is 0 when a block begins:
 *
 *	while there are words
 *		if payload words are left: 8 bytes of RAW are the word
 *		token = TOKENS
 *		if token is PACK_TOKEN_WORD: 8 bytes of RAW are the word
 *		else high is
 *			PACK_TOKEN_LONG		long_table[hash(a, b, c)]
 *			PACK_TOKEN_SHORT	short_table[hash(a, 0, 0)]
 *			PACK_TOKEN_END + type	type << 28 | stack[depth & PACK_DEPTH - 1]
 *			PACK_TOKEN_ID + type	type << 28 | HIGH byte << 8 | LOW byte
 *			PACK_TOKEN_WIDE + type	type << 28 | 2 bytes of WIDE << 16 | HIGH byte << 8 | LOW byte
 *		both tables get it in these places
 *		TRACE_ENTRY: stack[++depth & PACK_DEPTH - 1] = id; TRACE_EXIT, TAIL, UNWIND: depth--;
 *		TRACE_CONTROL, TRACE_VALUED: TRACE_PAYLOAD_OF() payload words follow
 *		c = b, b = a, a = high
 *		d = byte of SOON if the token was PACK_TOKEN_LONG, else of LATE
 *			up to 223	the difference
 *			224...254	224 + (d - 224 << 8 | byte of MORE)
 *			255		4 bytes of MORE
 *		low += difference, modulo 2^32
 *	the last bytes of the block, fewer than 8, are the last of RAW
 *
 * where hash(a, b, c) is (((a << 32 | c) * PACK_HASH_HISTORY + b) * PACK_HASH) >> 64 - PACK_TABLE_BITS, and
 * hash of one is a * PACK_HASH >> 64 - PACK_TABLE_BITS, both modulo 2^64.
 */
#ifndef XAUDIT_FORMAT_PACK_H
#define XAUDIT_FORMAT_PACK_H

#include <stdint.h>

#define PACK_MAGIC   "xaudpack" /* 8 bytes at the start of the file */
#define PACK_VERSION 1
#define PACK_SUFFIX  ".pack"	/* DIR.pack is read where there is no DIR */

struct pack_head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t head_size; /* of this struct: the first frame is here; a multiple of 8 */
};
_Static_assert(sizeof(struct pack_head) == 16, "part of the format");

enum pack_type { PACK_MEMBER = 1, PACK_BLOCK = 2, PACK_INDEX = 3, PACK_END = 4 };

/* How the content is stored. */
enum pack_method { PACK_STORED = 0, PACK_ZSTD = 1, PACK_EVENTS = 2 };

#define PACK_FRAME_MAGIC 0xc6a4e0b15d2f9387u

#define PACK_BLOCK_MAX (4u << 20) /* bytes of content of a block */
#define PACK_PIECE     128u	  /* bytes: a struct trace_chunk */
#define PACK_PIECES    (PACK_BLOCK_MAX / (64u << 10))

struct pack_frame {
	uint64_t magic;
	uint64_t check;	  /* XXH64 of what follows in this struct, with seed 0 */
	uint32_t type;	  /* enum pack_type; unknown ones are skipped */
	uint32_t method;  /* enum pack_method; of blocks alone, others are stored */
	uint32_t member;  /* number of the member; of no use for index and end */
	uint32_t size;	  /* bytes of the frame after this struct, without padding to a multiple of 8 */
	uint64_t offset;  /* of a block: in the member; of the end: in the file, of the index */
	uint64_t content; /* XXH64 of the content, with seed 0 */
	uint32_t raw;	  /* bytes of content; of a block, up to PACK_BLOCK_MAX */
	uint32_t pieces;  /* of a block, up to PACK_PIECES */
	uint32_t piece_size; /* bytes that they take, before the content */
	uint32_t piece_check; /* low half of XXH64, with seed 0, of the pieces as they are before compression */
};
_Static_assert(sizeof(struct pack_frame) == 64, "part of the format");

#define PACK_SLOTS   0x20000u /* the file is t<n>, and its chunks have slots here */
#define PACK_COMPACT 0x10000u /* the file was compact (format/compact.h) and will be, when it is unpacked */

/* Content of PACK_MEMBER. */
struct pack_member_head {
	uint64_t size;	  /* of the file; of a folder 0 */
	uint32_t mode;	  /* st_mode: S_IFREG or S_IFDIR, and permissions; PACK_COMPACT, PACK_SLOTS */
	uint32_t name;	  /* bytes of the name, without padding */
	uint64_t extents; /* struct pack_extent follow, then the name, padded with zeros to a multiple of 8 */
};

/* Bytes that are in no hole. In ascending order, without overlap, within the size. */
struct pack_extent {
	uint64_t begin, end;
};

/* Content of PACK_INDEX: this, then members as in PACK_MEMBER, then a struct pack_place per block. */
struct pack_index {
	uint64_t members, blocks;
};

/* A block; in the order of members, then of offsets. */
struct pack_place {
	uint64_t at; /* of its frame, in the file */
	uint64_t offset;
	uint32_t member;
	uint32_t size, raw, pieces; /* as in its frame */
};
_Static_assert(sizeof(struct pack_place) == 32, "part of the format");

/* ---- events ---- */

enum pack_streams {
	PACK_TOKENS,
	PACK_LOW,
	PACK_HIGH,
	PACK_WIDE,
	PACK_SOON,
	PACK_LATE,
	PACK_MORE,
	PACK_RAW,
	PACK_STREAMS
};

struct pack_stream {
	uint32_t raw;  /* bytes that it has */
	uint32_t size; /* bytes that are stored; as many as `raw`: not compressed */
};

enum pack_token {
	PACK_TOKEN_LONG = 0,
	PACK_TOKEN_SHORT = 1,
	PACK_TOKEN_END = 0, /* 2...4 */
	PACK_TOKEN_WORD = 15,
	PACK_TOKEN_ID = 16,
	PACK_TOKEN_WIDE = 32,
};

#define PACK_TABLE_BITS	  13
#define PACK_DEPTH	  4096u
#define PACK_HASH	  0x9e3779b97f4a7c15u
#define PACK_HASH_HISTORY 0x2545f4914f6cdd1du

#endif
