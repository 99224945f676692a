/* SPDX-License-Identifier: MIT */
/*
 * Memory of the reader. Each of these returns NULL, or false, where there is none, and remembers that: from then on
 * what was read of the trace is not all (struct read_damage). Nobody goes on as if it were; nothing that was there
 * before is freed or changed.
 */
#ifndef XAUDIT_TOOL_READ_MEMORY_H
#define XAUDIT_TOOL_READ_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "tool/read/error.h"

/* count * size bytes, zeroed. */
void *read_memory_zeroed(struct read_damage *damage, size_t count, size_t size);

/* strndup() */
char *read_memory_text(struct read_damage *damage, const char *text, size_t length);

/* asprintf() */
char *read_memory_format(struct read_damage *damage, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * A list is told by the address of the pointer to it. Gives it room for `count` entries of `size` bytes; what is new is
 * not zeroed.
 */
bool read_memory_resize(struct read_damage *damage, void *list, size_t count, size_t size);

/* For a list of `count` entries that only ever grows by one: room for one more. */
bool read_memory_grow(struct read_damage *damage, void *list, size_t count, size_t size);

#endif
