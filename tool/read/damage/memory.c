/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/damage/memory.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/format.h"

static void *note(struct read_damage *damage, void *memory)
{
	if (!memory)
		damage->no_memory = true;
	return memory;
}

void *read_memory_zeroed(struct read_damage *damage, size_t count, size_t size)
{
	return note(damage, calloc(count ? count : 1, size));
}

char *read_memory_text(struct read_damage *damage, const char *text, size_t length)
{
	return note(damage, strndup(text, length));
}

char *read_memory_format(struct read_damage *damage, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = format_text(format, args);
	va_end(args);
	return note(damage, text);
}

bool read_memory_resize(struct read_damage *damage, void *list, size_t count, size_t size)
{
	void *memory;

	memcpy(&memory, list, sizeof(memory));
	memory = note(damage, reallocarray(memory, count ? count : 1, size));
	if (memory)
		memcpy(list, &memory, sizeof(memory));
	return memory != NULL;
}

bool read_memory_grow(struct read_damage *damage, void *list, size_t count, size_t size)
{
	/* It grows when 0, 1, 3, 7 ... entries are in it. */
	return count & (count + 1) ? true : read_memory_resize(damage, list, 2 * count + 2, size);
}

bool read_memory_hash(struct read_damage *damage, struct hash *table, uint32_t hash, uint32_t row)
{
	bool added = hash_add(table, hash, row);

	damage->no_memory |= !added;
	return added;
}
