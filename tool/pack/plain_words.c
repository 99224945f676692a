/* SPDX-License-Identifier: MIT */
#include "tool/pack/plain_words.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/files/dense.h"
#include "tool/read/compact.h"
#include "tool/read/events/dense.h"

bool plain_may_be(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash && slash[1] == 't';
}

/* Sizes of a chunk in t<n>. */
static bool is_sane(const struct trace_chunk *head)
{
	return head->magic == TRACE_CHUNK_MAGIC && head->head_size == sizeof(*head) && head->size >= TRACE_CHUNK_MIN &&
	       head->size <= PLAIN_MOST && !(head->size & (head->size - 1)) && head->used > sizeof(*head) &&
	       head->used <= head->size && head->used % sizeof(uint64_t) == 0 && head->dense &&
	       head->dense % sizeof(uint16_t) == 0 && head->dense <= head->used - sizeof(*head);
}

static uint64_t words_of(const struct trace_chunk *head)
{
	return (head->used - sizeof(*head)) / sizeof(uint64_t);
}

bool plain_may_become(const struct trace_chunk *head)
{
	return head->version == TRACE_CHUNK_DENSE && is_sane(head);
}

/* Makes codes of the chunk's words; room: for its head->dense bytes, and DENSE_SLACK. Are these all? */
static bool make_dense(const struct trace_chunk *chunk, uint16_t *code)
{
	const uint64_t *word = (const uint64_t *)(chunk + 1), *end = word + words_of(chunk);
	struct dense dense;

	dense_begin(&dense, chunk->clock);
	const uint16_t *to = dense_add(&dense, &word, end, code, code + chunk->dense / sizeof(*code));
	return word == end && (uint64_t)(to - code) * sizeof(*code) == chunk->dense;
}

static uint16_t *room_of(const struct trace_chunk *head)
{
	return malloc(head->dense + DENSE_SLACK * sizeof(uint16_t));
}

bool plain_read(const struct compact *file, uint64_t at, const struct trace_chunk *head, void *to)
{
	uint16_t *code = malloc(head->dense), *again = room_of(head);
	struct trace_chunk *chunk = to;

	*chunk = *head;
	chunk->version = TRACE_VERSION;
	bool good = code && again && compact_read(file, code, head->dense, at + sizeof(*head)) &&
		    read_dense_all(head, code, (uint64_t *)(chunk + 1), words_of(head)) && make_dense(chunk, again) &&
		    !memcmp(code, again, head->dense);

	free(code);
	free(again);
	return good;
}

bool plain_was_dense(const struct trace_chunk *chunk, uint64_t size)
{
	return size >= sizeof(*chunk) && chunk->version == TRACE_VERSION && is_sane(chunk) && chunk->used <= size;
}

uint64_t plain_unmake(struct trace_chunk *chunk)
{
	uint16_t *code = room_of(chunk);

	if (code && make_dense(chunk, code)) {
		chunk->version = TRACE_CHUNK_DENSE;
		memcpy(chunk + 1, code, chunk->dense);
	} else {
		chunk->dense = 0;
	}
	free(code);
	return sizeof(*chunk) + (chunk->version == TRACE_CHUNK_DENSE ? chunk->dense : words_of(chunk) * 8);
}
