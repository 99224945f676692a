/* SPDX-License-Identifier: MIT */
/* Bytes of a plan: code, layouts, names, each once. Memory that runs out ends the command. One thread. */
#ifndef XAUDIT_TOOL_PLAN_PIECES_H
#define XAUDIT_TOOL_PLAN_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "tool/base/hash.h"

/* Zeros: none. Positions count from the first byte. */
struct pieces {
	uint8_t *bytes;
	size_t size, room;
	struct piece {
		uint32_t at, size;
	} *piece;
	uint32_t pieces;
	struct hash by_bytes;
};

/* Where these bytes are, at a multiple of 8; they are added if they are not there. */
uint32_t pieces_put(struct pieces *to, const void *bytes, size_t size);

/* With its NUL. */
uint32_t pieces_text(struct pieces *to, const char *text);

void pieces_free(struct pieces *pieces);

#endif
