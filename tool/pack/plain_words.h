/* SPDX-License-Identifier: MIT */
/*
 * Dense words (format/dense.h) in files that are packed. A packed trace has plain ones: what is foreseen of them takes
 * 0.4 to 0.8 of what zstd makes of dense ones, and nobody has to read both. Such a chunk has TRACE_VERSION there, and
 * keeps trace_chunk.dense; by that it is made dense again when it is unpacked, with the same bytes as before. Chunks of
 * more than PLAIN_MOST stay as they are.
 *
 * No state; any thread, with files and memory of its own.
 */
#ifndef XAUDIT_TOOL_PACK_PLAIN_WORDS_H
#define XAUDIT_TOOL_PACK_PLAIN_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"

struct compact;

#define PLAIN_MOST (1u << 20)

/* May chunks of a member with this name be dense? */
bool plain_may_be(const char *name);

/* Is it the head of a chunk of dense words, with possible sizes? */
bool plain_may_become(const struct trace_chunk *head);

/*
 * Reads that chunk, and makes plain words of it. to: room for head->used bytes. Returns false if it is damaged, or the
 * same dense words could not be made of it again, or there is no memory: then it is of no use.
 */
bool plain_read(const struct compact *file, uint64_t at, const struct trace_chunk *head, void *to);

/* Was it a chunk of dense words, of which there may be up to `size` bytes? `chunk` is aligned as words are. */
bool plain_was_dense(const struct trace_chunk *chunk, uint64_t size);

/*
 * Makes plain_was_dense()'s chunk dense again, in its place. Returns how many bytes it has then, with the head. If
 * these would not be those that they were, it stays plain, as if it had never been dense.
 */
uint64_t plain_unmake(struct trace_chunk *chunk);

#endif
