/* SPDX-License-Identifier: MIT */
#include "tool/export/rows/buffer.h"

#include <stdlib.h>
#include <time.h>

#include "tool/base/memory.h"
#include "tool/show/digits.h"

char *buffer_room(struct buffer *buffer, size_t bytes)
{
	if (buffer->room - buffer->size < bytes) {
		buffer->room = (buffer->size + bytes) * 2 + 4096;
		buffer->data = memory_resize(buffer->data, buffer->room, 1);
	}
	return buffer->data + buffer->size;
}

void buffer_write(struct buffer *buffer, FILE *file)
{
	/* A buffer that nothing was put to has no memory yet. */
	if (buffer->size)
		fwrite_unlocked(buffer->data, 1, buffer->size, file);
	buffer->size = 0;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){ 0 };
}

struct buffer *buffers_one(struct buffers *buffers, uint32_t number)
{
	if (number >= buffers->count) {
		uint32_t count = number * 2 + 64;

		buffers->buffer = memory_resize(buffers->buffer, count, sizeof(*buffers->buffer));
		memset(buffers->buffer + buffers->count, 0, (count - buffers->count) * sizeof(*buffers->buffer));
		buffers->count = count;
	}
	return &buffers->buffer[number];
}

void buffers_free(struct buffers *buffers)
{
	for (uint32_t i = 0; i < buffers->count; i++)
		buffer_free(&buffers->buffer[i]);
	free(buffers->buffer);
	*buffers = (struct buffers){ 0 };
}

void buffer_number(struct buffer *buffer, uint64_t number)
{
	char *to = buffer_room(buffer, DIGITS_MOST);

	buffer->size += (size_t)(digits_put(to, number) - to);
}

void buffer_moment(struct buffer *buffer, uint64_t ns)
{
	static const char form[] = "0000-00-00T00:00:00.000000000Z";
	time_t second = (time_t)(ns / 1000000000);
	struct tm tm;
	char *to = buffer_room(buffer, sizeof(form));

	memcpy(to, form, sizeof(form) - 1);
	if (gmtime_r(&second, &tm)) {
		digits_fixed(to, (uint32_t)(tm.tm_year + 1900), 4);
		digits_fixed(to + 5, (uint32_t)(tm.tm_mon + 1), 2);
		digits_fixed(to + 8, (uint32_t)(tm.tm_mday), 2);
		digits_fixed(to + 11, (uint32_t)(tm.tm_hour), 2);
		digits_fixed(to + 14, (uint32_t)(tm.tm_min), 2);
		digits_fixed(to + 17, (uint32_t)(tm.tm_sec), 2);
		digits_fixed(to + 20, (uint32_t)(ns % 1000000000), 9);
	}
	buffer->size += sizeof(form) - 1;
}
