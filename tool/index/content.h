/* SPDX-License-Identifier: MIT */
/*
 * What two files have in common that are the same in memory: a hash of their program headers and of what their segments
 * hold in the file. An index (format/index.h) rests on nothing else that counts when it is used, so files of one hash
 * may share one: copies, and a file and its stripped copy. What the ELF header says of sections lies in a segment, too,
 * but is no part of the program, and left out.
 *
 * It is SHA-256, cut: nobody can make a file that has the hash of another one, or files that are looked at, but never
 * run, could have a say in what is written into the C library.
 *
 * Pure. One thread per struct.
 */
#ifndef XAUDIT_TOOL_INDEX_CONTENT_H
#define XAUDIT_TOOL_INDEX_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#include "format/index.h"

struct site_file;

void content_read(const struct site_file *file, uint8_t content[INDEX_CONTENT]);

/* ---- the hash alone ---- */

#define CONTENT_BLOCK 64
#define CONTENT_SUM   32

struct content_sum {
	uint32_t state[8];
	uint64_t size; /* of all bytes so far */
	uint8_t rest[CONTENT_BLOCK];
};

void content_begin(struct content_sum *sum);
void content_add(struct content_sum *sum, const void *bytes, size_t size);
void content_end(struct content_sum *sum, uint8_t to[CONTENT_SUM]);

#endif
