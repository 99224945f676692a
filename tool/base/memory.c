/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h> /* strndup */

#include "tool/base/format.h"

void memory_failed(void)
{
	fputs("xaudit: out of memory\n", stderr);
	exit(1);
}

void *memory_need(void *memory)
{
	if (!memory)
		memory_failed();
	return memory;
}

void *memory_zeroed(size_t count, size_t size)
{
	return memory_need(calloc(count ? count : 1, size));
}

void *memory_resize(void *old, size_t count, size_t size)
{
	return memory_need(reallocarray(old, count ? count : 1, size));
}

void *memory_grow(void *old, size_t count, size_t size)
{
	/* It grows when 0, 1, 3, 7 ... entries are in it. */
	return count & (count + 1) ? old : memory_resize(old, 2 * count + 2, size);
}

uint32_t *memory_number(uint32_t **list, uint32_t *room, uint32_t number)
{
	if (number >= *room) {
		uint32_t more = number + number / 2 + 64;
		*list = memory_resize(*list, more, sizeof(**list));
		memset(*list + *room, 0, (more - *room) * sizeof(**list));
		*room = more;
	}
	return *list + number;
}

char *memory_text(const char *text, size_t length)
{
	return memory_need(strndup(text, length));
}

char *memory_format(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = format_text(format, args);
	va_end(args);
	return memory_need(text);
}
