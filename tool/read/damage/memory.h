/* SPDX-License-Identifier: MIT */
/*
 * Memory of the reader. If there is none each function returns NULL, or false, and remembers that: from then on not all
 * of the trace was read (struct read_damage), and callers stop reading. Memory that was allocated before is neither
 * freed nor changed.
 */
#ifndef XAUDIT_TOOL_READ_MEMORY_H
#define XAUDIT_TOOL_READ_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "tool/base/hash.h"
#include "tool/read/damage/error.h"

/* count * size bytes, zeroed. */
void *read_memory_zeroed(struct read_damage *damage, size_t count, size_t size);

/* strndup() */
char *read_memory_text(struct read_damage *damage, const char *text, size_t length);

/* asprintf() */
char *read_memory_format(struct read_damage *damage, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Gives a list room for `count` entries of `size` bytes; list: the address of the pointer to it. New entries are not
 * zeroed.
 */
bool read_memory_resize(struct read_damage *damage, void *list, size_t count, size_t size);

/* For a list of `count` entries that only ever grows by one: room for one more. */
bool read_memory_grow(struct read_damage *damage, void *list, size_t count, size_t size);

/* hash_add() */
bool read_memory_hash(struct read_damage *damage, struct hash *table, uint32_t hash, uint32_t row);

#endif
