/* SPDX-License-Identifier: MIT */
/* Memory of the commands: running out of it ends the command with one line and status 1. Any thread. */
#ifndef XAUDIT_MEMORY_H
#define XAUDIT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "tool/base/hash.h"

/* count * size bytes, zeroed. */
void *memory_zeroed(size_t count, size_t size) __attribute__((malloc));

/* realloc() to count * size bytes; new bytes are not zeroed. */
void *memory_resize(void *old, size_t count, size_t size);

/* Room for one more in a list of `count` entries that only this function made and grew. NULL: there is no list yet. */
void *memory_grow(void *old, size_t count, size_t size);

/*
 * The place of that number in a list that has zeros where nothing was stored. *room: how many places it has; it grows.
 */
uint32_t *memory_number(uint32_t **list, uint32_t *room, uint32_t number);

/* strndup() */
char *memory_text(const char *text, size_t length);

/* asprintf() */
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns the pointer; ends the command if it is NULL, which means that the code it came from ran out of memory. */
void *memory_need(void *memory);

/* Ends the command, for other code that ran out of memory. */
void memory_failed(void) __attribute__((noreturn));

/* hash_add() */
static inline void memory_hash(struct hash *table, uint32_t hash, uint32_t row)
{
	if (!hash_add(table, hash, row))
		memory_failed();
}

#endif
