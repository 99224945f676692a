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

bool plain_find(const struct compact *file, uint64_t at, struct trace_chunk *head)
{
	return compact_read(file, head, sizeof(*head), at) && head->version == TRACE_CHUNK_DENSE && is_sane(head) &&
	       at % head->size == 0;
}

bool plain_read(const struct compact *file, uint64_t at, const struct trace_chunk *head, void *to)
{
	uint16_t *code = malloc(head->dense);
	struct trace_chunk *chunk = to;
	bool good = code && compact_read(file, code, head->dense, at + sizeof(*head)) &&
		    read_dense_all(head, code, (uint64_t *)(chunk + 1), words_of(head));

	free(code);
	*chunk = *head;
	chunk->version = TRACE_VERSION;
	return good;
}

bool plain_was_dense(const struct trace_chunk *chunk, uint64_t size)
{
	return size >= sizeof(*chunk) && chunk->version == TRACE_VERSION && is_sane(chunk) && chunk->used <= size;
}

uint64_t plain_unmake(struct trace_chunk *chunk)
{
	struct dense dense;
	const uint64_t *word = (const uint64_t *)(chunk + 1), *end = word + words_of(chunk);
	uint16_t *code = malloc(chunk->dense + DENSE_SLACK * sizeof(*code)), *to = code;

	if (code) {
		dense_begin(&dense, chunk->clock);
		to = dense_add(&dense, &word, end, code, code + chunk->dense / sizeof(*code));
	}
	if (word == end && (uint64_t)(to - code) * sizeof(*code) == chunk->dense) {
		chunk->version = TRACE_CHUNK_DENSE;
		memcpy(chunk + 1, code, chunk->dense);
	} else {
		chunk->dense = 0;
	}
	free(code);
	return sizeof(*chunk) + (chunk->version == TRACE_CHUNK_DENSE ? chunk->dense : words_of(chunk) * 8);
}
