/* SPDX-License-Identifier: MIT */
#include "tool/base/proto.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/text.h"
#include "tool/base/memory.h"

enum { WIRE_NUMBER, WIRE_8_BYTES, WIRE_BYTES };

static void put(struct proto *to, const void *bytes, size_t size)
{
	if (to->room - to->size < size) {
		to->room = 2 * to->room + size;
		to->byte = memory_resize(to->byte, to->room, 1);
	}
	if (size)
		memcpy(to->byte + to->size, bytes, size);
	to->size += size;
}

void proto_packed(struct proto *to, uint64_t number)
{
	uint8_t byte[10];
	size_t size = 0;

	for (; number > 0x7f; number >>= 7)
		byte[size++] = (uint8_t)(number | 0x80);
	byte[size++] = (uint8_t)number;
	put(to, byte, size);
}

void proto_number(struct proto *to, unsigned field, uint64_t number)
{
	proto_packed(to, field << 3 | WIRE_NUMBER);
	proto_packed(to, number);
}

void proto_double(struct proto *to, unsigned field, double number)
{
	proto_packed(to, field << 3 | WIRE_8_BYTES);
	put(to, &number, sizeof(number));
}

void proto_bytes(struct proto *to, unsigned field, const void *bytes, size_t size)
{
	proto_packed(to, field << 3 | WIRE_BYTES);
	proto_packed(to, size);
	put(to, bytes, size);
}

void proto_message(struct proto *to, unsigned field, struct proto *message)
{
	proto_bytes(to, field, message->byte, message->size);
	message->size = 0;
}

/* Writes the text to `to`, if it is not NULL. Returns how long it is. */
static size_t put_utf8(struct proto *to, const char *text, size_t size)
{
	static const char none[] = "\xef\xbf\xbd"; /* U+FFFD */
	size_t sum = 0;

	for (size_t at = 0, length; at < size; at += length ? length : 1) {
		length = text_utf8((const unsigned char *)text + at);
		if (to && length)
			put(to, text + at, length);
		else if (to)
			put(to, none, sizeof(none) - 1);
		sum += length ? length : sizeof(none) - 1;
	}
	return sum;
}

void proto_text(struct proto *to, unsigned field, const char *text, size_t size)
{
	proto_packed(to, field << 3 | WIRE_BYTES);
	proto_packed(to, put_utf8(NULL, text, size));
	put_utf8(to, text, size);
}

void proto_append(struct proto *to, struct proto *fields)
{
	put(to, fields->byte, fields->size);
	fields->size = 0;
}

void proto_free(struct proto *proto)
{
	free(proto->byte);
	*proto = (struct proto){ 0 };
}
