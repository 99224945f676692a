/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/html/blocks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tool/base/memory.h"
#include "tool/show/event_text.h"

/* Measured: 6 makes 3 % less of it, and takes 3 times as long. */
#define LEVEL 4

#define GZIP 16 /* added to the bits of the window: a head and an end as of a file .gz */

/* ---- containers ---- */

static uint8_t *room_for(struct container *c, size_t bytes)
{
	if (c->room - c->size < bytes) {
		while (c->room - c->size < bytes)
			c->room = c->room ? c->room * 2 : 4096;
		c->data = memory_resize(c->data, c->room, 1);
	}
	c->size += bytes;
	return c->data + c->size - bytes;
}

static void put(struct container *c, uint32_t number)
{
	memcpy(room_for(c, sizeof(number)), &number, sizeof(number));
}

void container_begin(struct container *c)
{
	*c = (struct container){ 0 };
	put(c, CONTAINER_MAGIC);
	put(c, 0);
}

void container_table(struct container *c, uint32_t rows, uint32_t columns)
{
	uint32_t tables;

	memcpy(&tables, c->data + 4, sizeof(tables));
	tables++;
	memcpy(c->data + 4, &tables, sizeof(tables));
	put(c, rows);
	put(c, columns);
	c->rows = rows;
}

void container_column(struct container *c, const uint64_t *number, size_t stride)
{
	const uint8_t *from = (const uint8_t *)number;
	uint64_t all = 0, one;
	uint32_t planes = 0;

	for (size_t i = 0; i < c->rows; i++) {
		memcpy(&one, from + i * stride, sizeof(one));
		all |= one;
	}
	while (planes < 8 && all >> (8 * planes))
		planes++;
	put(c, planes);
	uint8_t *to = room_for(c, (size_t)planes * c->rows);
	for (uint32_t p = 0; p < planes; p++)
		for (size_t i = 0; i < c->rows; i++)
			*to++ = from[i * stride + p];
}

void container_rows(struct container *c, uint32_t rows, uint32_t columns, const uint64_t *row)
{
	container_table(c, rows, columns);
	for (uint32_t i = 0; i < columns; i++)
		container_column(c, row + i, columns * sizeof(*row));
}

void container_bytes(struct container *c, const void *bytes)
{
	put(c, c->rows ? 1 : 0);
	if (c->rows)
		memcpy(room_for(c, c->rows), bytes, c->rows);
}

/* ---- blocks ---- */

void blocks_add(struct blocks *blocks, const char *name, void *data, size_t size)
{
	blocks->block = memory_grow(blocks->block, blocks->count, sizeof(*blocks->block));
	struct block *block = &blocks->block[blocks->count++];
	*block = (struct block){ .data = data, .size = size };
	snprintf(block->name, sizeof(block->name), "%s", name);
}

void blocks_container(struct blocks *blocks, const char *name, struct container *c)
{
	blocks_add(blocks, name, c->data, c->size);
	*c = (struct container){ 0 };
}

static void pack(struct block *block)
{
	z_stream z = { .next_in = block->data, .avail_in = (uInt)block->size };

	/* What deflateInit2() may say of these arguments is that there is no memory. */
	if (block->size > UINT32_MAX ||
		deflateInit2(&z, LEVEL, Z_DEFLATED, 15 + GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		memory_failed();
	size_t bound = deflateBound(&z, block->size);
	uint8_t *packed = memory_zeroed(bound, 1);
	z.next_out = packed;
	z.avail_out = (uInt)bound;
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		memory_failed();
	block->packed = z.total_out;
	deflateEnd(&z);
	free(block->data);
	block->data = memory_resize(packed, block->packed, 1);
}

/* Both threads take the next one that nobody has taken; which of them gets it does not matter. */
struct packing {
	struct blocks *blocks;
	_Atomic uint32_t next;
};

static void *pack_all(void *arg)
{
	struct packing *packing = arg;
	uint32_t i;

	while ((i = atomic_fetch_add_explicit(&packing->next, 1, memory_order_relaxed)) < packing->blocks->count)
		pack(&packing->blocks->block[i]);
	return NULL;
}

void blocks_pack(struct blocks *blocks)
{
	struct packing packing = { .blocks = blocks, .next = blocks->done };
	pthread_t other;
	bool runs = blocks->count - blocks->done > 1 && !pthread_create(&other, NULL, pack_all, &packing);

	pack_all(&packing);
	if (runs)
		pthread_join(other, NULL);
	for (; blocks->done < blocks->count; blocks->done++)
		blocks->packed += blocks->block[blocks->done].packed;
}

void blocks_free(struct blocks *blocks)
{
	for (uint32_t i = 0; i < blocks->count; i++)
		free(blocks->block[i].data);
	free(blocks->block);
	*blocks = (struct blocks){ 0 };
}

/* ---- writing ---- */

void blocks_write(FILE *to, const struct blocks *blocks)
{
	for (uint32_t i = 0; i < blocks->count; i++) {
		fprintf(to, "<script type=\"application/octet-stream\" id=\"xaudit-%s\">", blocks->block[i].name);
		event_base64(to, blocks->block[i].data, blocks->block[i].packed);
		fputs("</script>\n", to);
	}
}
