/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/drain/copy.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "runtime/files/dense.h"
#include "tool/base/whole.h"

#define PIECE	   (1u << 20)
#define CODES	   (64u << 10) /* made at a time */
#define LONG_WORDS 2 /* dense words are not worth it */

static uint8_t piece[PIECE];
static uint16_t code[CODES + DENSE_SLACK];

bool drain_is_sane(const struct trace_chunk *head, uint64_t size)
{
	return head->version == TRACE_VERSION && head->head_size == sizeof(*head) && head->size == size &&
	       head->used >= sizeof(*head) && head->used <= size && head->used % 8 == 0 && head->copied &&
	       head->thread < DRAIN_THREADS && head->process < TRACE_PLACE_MAX;
}

bool drain_has_hole(int meta, uint64_t from, uint64_t to)
{
	off_t hole = lseek(meta, (off_t)from, SEEK_HOLE);

	return hole >= 0 ? (uint64_t)hole < to : errno == ENXIO;
}

static bool is_same(const struct trace_chunk *a, const struct trace_chunk *b)
{
	return a->magic == b->magic && a->seq == b->seq && a->used == b->used && a->copied == b->copied &&
	       a->process == b->process && a->thread == b->thread;
}

/* Reads the words from `done` on, which begin at `piece`. *size: how many bytes. Returns 0, DRAIN_OVER or -EINVAL. */
static long read_piece(const struct drain_way *way, uint64_t done, uint64_t *size)
{
	struct trace_chunk again;

	*size = way->head.used - done < PIECE ? way->head.used - done : PIECE;
	if (!whole_read(way->meta, piece, *size, way->at + done) ||
		!whole_read(way->meta, &again, sizeof(again), way->at))
		return -EINVAL;
	return is_same(&way->head, &again) ? 0 : DRAIN_OVER;
}

/* As drain_write(). */
static long write_plain(const struct drain_way *way)
{
	long r = 0;

	for (uint64_t done = sizeof(way->head), size; done < way->head.used && !r; done += size)
		if (!(r = read_piece(way, done, &size)))
			r = -whole_write(way->to, piece, size, way->behind + done);
	return r;
}

/* *dense: how many bytes they take. As drain_write(), or LONG_WORDS. */
static long write_dense(const struct drain_way *way, uint64_t *dense)
{
	const uint64_t begin = sizeof(way->head);
	static struct dense state;
	long r = 0;

	*dense = 0;
	dense_begin(&state, way->head.clock);
	for (uint64_t done = begin, size; done < way->head.used && !r; done += size) {
		r = read_piece(way, done, &size);
		const uint64_t *first = (const uint64_t *)(const void *)piece, *word = first;
		const uint64_t *end = first + size / sizeof(*first);
		while (word < end && !r) {
			uint64_t bytes = (uint64_t)(dense_add(&state, &word, end, code, code + CODES) - code) *
					 sizeof(*code);
			/* As its thread would see it (runtime/record/chunk_file.c). */
			if (*dense + bytes > DENSE_WORTH(done - begin + (uint64_t)(word - first) * sizeof(*word)))
				return LONG_WORDS;
			r = -whole_write(way->to, code, bytes, way->behind + begin + *dense);
			*dense += bytes;
		}
	}
	return r;
}

long drain_write(struct drain_way *way)
{
	uint64_t dense;
	long r = write_dense(way, &dense);

	if (r == LONG_WORDS) {
		dense = 0;
		r = write_plain(way);
	}
	if (r)
		return r;
	way->head.copied = 0;
	way->head.version = dense ? TRACE_CHUNK_DENSE : TRACE_VERSION;
	way->head.dense = dense;
	if ((r = -whole_write(way->to, &way->head, sizeof(way->head), way->behind)))
		return r;
	/* 0, too: for the chunk before it in that place this may have come late. */
	return -whole_write(way->meta, &dense, sizeof(dense), way->at + offsetof(struct trace_chunk, dense));
}
