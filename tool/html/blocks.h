/* SPDX-License-Identifier: MIT */
/*
 * The blocks of data of a page: each is packed (gzip), and written as base64 into an element of its
 * own, which a browser keeps as text until the page looks at it.
 *
 * A container is a block of numbers in tables, little endian: the magic, the number of tables; of each table its rows
 * and columns; of each column how many bytes a number of it takes, and then the lowest bytes of all its numbers, the
 * second ones, and so on. Planes of bytes are packed into half of what whole numbers would be.
 *
 *	container_begin(&c)
 *	container_table(&c, rows, columns)		and then, as many times as it has columns:
 *	container_column(&c, number, stride)		a number each `stride` bytes
 *	blocks_container(&blocks, "name", &c)		frees it
 *
 * One thread calls these functions. When memory runs out, the command ends (tool/base/memory.h).
 */
#ifndef XAUDIT_TOOL_HTML_BLOCKS_H
#define XAUDIT_TOOL_HTML_BLOCKS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CONTAINER_MAGIC 0x31484158u /* "XAH1" */

struct block {
	char name[24];
	uint8_t *data;
	size_t packed, size; /* packed: 0: it is not packed yet */
};

struct blocks {
	struct block *block;
	uint32_t count;
	uint32_t done; /* so many are packed */
	size_t packed; /* of these, all bytes */
};

struct container {
	uint8_t *data;
	size_t size, room;
	uint32_t rows; /* of the table at hand */
};

void container_begin(struct container *container);
void container_table(struct container *container, uint32_t rows, uint32_t columns);
void container_column(struct container *container, const uint64_t *number, size_t stride);
void container_rows(struct container *container, uint32_t rows, uint32_t columns, const uint64_t *row); /* a table */
void container_bytes(struct container *container, const void *bytes); /* a column of bytes */

/* Adds a block of these bytes, which are the blocks' from then on; or of a container, which is empty then. */
void blocks_add(struct blocks *blocks, const char *name, void *data, size_t size);
void blocks_container(struct blocks *blocks, const char *name, struct container *container);

/* Packs those that were added since the last time, by two threads. */
void blocks_pack(struct blocks *blocks);
void blocks_free(struct blocks *blocks);

/* Writes their elements. */
void blocks_write(FILE *to, const struct blocks *blocks);

#endif
