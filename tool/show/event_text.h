/* SPDX-License-Identifier: MIT */
/*
 * The data of custom events, as people and programs read it. It is whatever a program wrote, so nothing of it goes to a
 * terminal but what is harmless there. Behind the data a zero byte must lie, which `size` does not count.
 *
 * Errors are left in the stream (ferror). Any thread; not async-signal-safe.
 */
#ifndef XAUDIT_TOOL_SHOW_EVENT_TEXT_H
#define XAUDIT_TOOL_SHOW_EVENT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Is it text: UTF-8 without control characters, but for line ends and tabs? One NUL at its end is let pass. */
bool event_is_text(const uint8_t *data, size_t size);

/*
 * Writes the data as text in quotes where it is text, with \n, \t, \r, \" and \\ for these; otherwise its bytes in hex.
 * limit: so many characters or so are written at most, then "..."; SIZE_MAX: all.
 */
void event_text(FILE *file, const uint8_t *data, size_t size, size_t limit);

/* The name of a type of events; NULL: it has none, and its number stands for it. */
void event_type(FILE *file, const char *name, uint32_t number);

/* Writes it in base64 (RFC 4648, padded), without quotes. */
void event_base64(FILE *file, const uint8_t *data, size_t size);

/* The number of a stack. */
void event_stack(FILE *out, uint32_t stack);

#endif
