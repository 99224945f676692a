/* SPDX-License-Identifier: MIT */
/*
 * The data of custom events, as people and programs read it. The traced program may have written any bytes, so only
 * those that are harmless on a terminal are printed as they are. A zero byte must follow the data; `size` does not
 * count it.
 *
 * Errors are left in the stream (ferror). Any thread; not async-signal-safe.
 */
#ifndef XAUDIT_TOOL_SHOW_EVENT_TEXT_H
#define XAUDIT_TOOL_SHOW_EVENT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Is it text: UTF-8 without control characters, but for line ends and tabs? One NUL at its end is allowed. */
bool event_is_text(const uint8_t *data, size_t size);

/*
 * Writes the data in quotes if it is text, with \n, \t, \r, \" and \\ for these; otherwise its bytes in hex. limit:
 * about how many characters are written at most, then "..."; SIZE_MAX: all.
 */
void event_text(FILE *file, const uint8_t *data, size_t size, size_t limit);

/* The data as a value: the text, if it is text, else its bytes in hex. The caller frees it. */
char *event_value(const uint8_t *data, size_t size);

/* Writes a value, or any other text of an event, without quotes, with \n, \t and \r for these. */
void event_value_text(FILE *file, const char *text);

/* Writes the name of a type of events; NULL: it has no name, and its number is written. */
void event_type(FILE *file, const char *name, uint32_t number);

/* Writes the data in base64 (RFC 4648, padded), without quotes. */
void event_base64(FILE *file, const uint8_t *data, size_t size);

/* Writes the number of a stack: of its memory, and how many stacks were there before it, unless 0. */
void event_stack(FILE *out, uint32_t stack);

#endif
