/* SPDX-License-Identifier: MIT */
#include "tool/show/event_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/trace.h"
#include "runtime/base/text.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/show.h"

/* What stands after the backslash for this character; 0: it needs no backslash. */
static char escape(uint8_t c)
{
	switch (c) {
	case '\n':
		return 'n';
	case '\t':
		return 't';
	case '\r':
		return 'r';
	case '"':
	case '\\':
		return (char)c;
	}
	return 0;
}

bool event_is_text(const uint8_t *data, size_t size)
{
	if (size > 1 && !data[size - 1])
		size--;
	for (size_t at = 0; at < size;) {
		size_t length = text_utf8(data + at);
		if (!length || (text_is_control(data + at, length) && !escape(data[at])))
			return false;
		at += length;
	}
	return true;
}

void event_text(FILE *file, const uint8_t *data, size_t size, size_t limit)
{
	size_t at = 0, written = 0;

	if (!event_is_text(data, size)) {
		for (; at < size && written < limit; at++, written += 3)
			fprintf(file, "%s%02x", at ? " " : "", data[at]);
		if (at < size)
			fputs(" ...", file);
		return;
	}
	if (size && !data[size - 1])
		size--;
	putc('"', file);
	for (; at < size && written < limit; written++) {
		size_t length = text_utf8(data + at);
		if (escape(data[at]))
			fprintf(file, "\\%c", escape(data[at]));
		else
			fwrite(data + at, 1, length, file);
		at += length;
	}
	fputs(at < size ? "\"..." : "\"", file);
}

char *event_value(const uint8_t *data, size_t size)
{
	if (event_is_text(data, size))
		return memory_text((const char *)data, size && !data[size - 1] ? size - 1 : size);

	char *text = memory_zeroed(size, 3);
	for (size_t i = 0; i < size; i++)
		sprintf(text + 3 * i, i + 1 < size ? "%02x " : "%02x", data[i]);
	return text;
}

void event_value_text(FILE *file, const char *text)
{
	for (; *text; text++) {
		size_t length = strcspn(text, "\n\t\r");
		char *piece = memory_text(text, length);
		tool_text(file, piece);
		free(piece);
		text += length;
		if (!*text)
			break;
		fprintf(file, "\\%c", escape((uint8_t)*text));
	}
}

void event_type(FILE *file, const char *name, uint32_t number)
{
	if (name)
		tool_text(file, name);
	else
		fprintf(file, "type %" PRIu32, number);
}

void event_base64(FILE *file, const uint8_t *data, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t at = 0; at < size; at += 3) {
		size_t left = size - at;
		uint32_t bits = (uint32_t)data[at] << 16 | (left > 1 ? (uint32_t)data[at + 1] << 8 : 0) |
				(left > 2 ? data[at + 2] : 0);
		putc(digits[bits >> 18], file);
		putc(digits[bits >> 12 & 63], file);
		putc(left > 1 ? digits[bits >> 6 & 63] : '=', file);
		putc(left > 2 ? digits[bits & 63] : '=', file);
	}
}

void event_stack(FILE *out, uint32_t stack)
{
	uint32_t memory = stack & ((1u << TRACE_STACK_BITS) - 1), before = stack >> TRACE_STACK_BITS;

	fprintf(out, "%" PRIu32, memory);
	if (before)
		fprintf(out, ".%" PRIu32, before);
}
