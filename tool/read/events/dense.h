/* SPDX-License-Identifier: MIT */
/*
 * Reads dense words (format/dense.h) of a chunk in a file, as if they were plain ones, at any place. Reading on where
 * the last call ended goes on there; anywhere else it begins with the chunk again. Any number of words, in memory of a
 * constant size. Nothing here is thread-safe or async-signal-safe.
 */
#ifndef XAUDIT_TOOL_READ_DENSE_H
#define XAUDIT_TOOL_READ_DENSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"
#include "tool/read/trace_file.h"

struct read_dense;

/* Frees what read_dense_words() allocated. NULL: nothing. */
void read_dense_free(struct read_dense *dense);

/*
 * Up to `count` words from number `first` on (0: the first behind the head) of the chunk whose head lies at `begin`.
 * *dense: NULL, or what an earlier call left there. Returns how many there are: fewer if the file ends there, can't be
 * read or is damaged; *error, unless NULL: an errno (ENOMEM, too), or 0.
 */
size_t read_dense_words(struct read_dense **dense, struct read_file *file, uint64_t begin,
	const struct trace_chunk *head, uint64_t first, uint64_t *to, size_t count, int *error);

/* Words of a chunk from its codes, of which there are head->dense bytes. Are there as many words as `count`? */
bool read_dense_all(const struct trace_chunk *head, const uint16_t *code, uint64_t *to, size_t count);

#endif
