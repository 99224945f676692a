/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/memory.h"

#include <stdarg.h> /* va_list */
#include <stdio.h>  /* vasprintf */
#include <stdlib.h>
#include <string.h> /* strndup */

static void *check(void *memory)
{
	if (!memory) {
		fputs("xaudit: out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

void *memory_zeroed(size_t count, size_t size)
{
	return check(calloc(count ? count : 1, size));
}

void *memory_resize(void *old, size_t count, size_t size)
{
	return check(reallocarray(old, count ? count : 1, size));
}

char *memory_text(const char *text, size_t length)
{
	return check(strndup(text, length));
}

char *memory_format(const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return check(text);
}
