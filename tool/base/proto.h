/* SPDX-License-Identifier: MIT */
/* Messages in the wire format of protocol buffers, in memory. One thread. */
#ifndef XAUDIT_TOOL_BASE_PROTO_H
#define XAUDIT_TOOL_BASE_PROTO_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory is an empty one. */
struct proto {
	uint8_t *byte;
	size_t size, room;
};

/* A field that is a number, and a number within a packed list. */
void proto_number(struct proto *to, unsigned field, uint64_t number);
void proto_packed(struct proto *to, uint64_t number);

/* A field of the type double. */
void proto_double(struct proto *to, unsigned field, double number);

/* A field of bytes, or a message, which is emptied. */
void proto_bytes(struct proto *to, unsigned field, const void *bytes, size_t size);
void proto_message(struct proto *to, unsigned field, struct proto *message);

/* A field that is a text, which must be UTF-8: each byte that is none becomes U+FFFD. A NUL must follow it. */
void proto_text(struct proto *to, unsigned field, const char *text, size_t size);

/* Fields of a message that are made already, which are emptied. */
void proto_append(struct proto *to, struct proto *fields);

void proto_free(struct proto *proto);

#endif
