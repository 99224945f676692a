/* SPDX-License-Identifier: MIT */
/*
 * A file of a trace without its holes. meta and t<n> are sparse, so copies by tools that don't know holes are many
 * times larger than they are. When all processes of a family have ended, `xaudit record` may leave such a file, of the
 * same name, in its place; so may, for meta, the last process at its exit:
 *
 *	struct compact_head
 *	head.extents times struct compact_extent
 *	the bytes of the first extent, those of the second, ...
 *
 * Everything is little endian. Extents are in ascending order, not empty, don't overlap, and end within head.size,
 * which is the size of the file that it stands for. What is in none of them reads as zeros. A file that does not begin
 * with such a head, or whose head is wrong, is what it is. One that ends before its last extent does was cut off.
 */
#ifndef XAUDIT_FORMAT_COMPACT_H
#define XAUDIT_FORMAT_COMPACT_H

#include <stdint.h>

#define COMPACT_MAGIC	"xaudcomp" /* 8 bytes at the start of the file */
#define COMPACT_VERSION 1

struct compact_head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t head_size; /* of this struct */
	uint64_t size;
	uint64_t extents;
};
_Static_assert(sizeof(struct compact_head) == 32, "part of the format");

struct compact_extent {
	uint64_t begin, end;
};

#endif
