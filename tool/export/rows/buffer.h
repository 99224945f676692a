/* SPDX-License-Identifier: MIT */
/*
 * Memory that formats of a row per call build their rows in: stdio takes longer for a number than for all else. Zeroed
 * memory is an empty one. One thread each.
 */
#ifndef XAUDIT_TOOL_EXPORT_ROWS_BUFFER_H
#define XAUDIT_TOOL_EXPORT_ROWS_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct buffer {
	char *data;
	size_t size, room;
};

/* Room for so many bytes more; returns where they begin. */
char *buffer_room(struct buffer *buffer, size_t bytes);

/* Writes what is in it, and empties it. Errors are left in the stream. */
void buffer_write(struct buffer *buffer, FILE *file);

void buffer_free(struct buffer *buffer);

/* Many, by number. Zeroed memory has none. */
struct buffers {
	struct buffer *buffer;
	uint32_t count;
};

/* The one of that number, empty when it is asked for first; valid until another one is. */
struct buffer *buffers_one(struct buffers *buffers, uint32_t number);
void buffers_free(struct buffers *buffers);

static inline void buffer_bytes(struct buffer *buffer, const void *bytes, size_t size)
{
	memcpy(buffer_room(buffer, size), bytes, size);
	buffer->size += size;
}

static inline void buffer_char(struct buffer *buffer, char c)
{
	*buffer_room(buffer, 1) = c;
	buffer->size++;
}

static inline void buffer_text(struct buffer *buffer, const char *text)
{
	buffer_bytes(buffer, text, strlen(text));
}

/* In decimal. */
void buffer_number(struct buffer *buffer, uint64_t number);

/* ns since 1970 as 2026-11-29T11:44:40.000000001Z */
void buffer_moment(struct buffer *buffer, uint64_t ns);

#endif
