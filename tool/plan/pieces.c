/* SPDX-License-Identifier: MIT */
#include "tool/plan/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/sum.h"
#include "tool/base/memory.h"

static uint32_t hash_bytes(const uint8_t *bytes, size_t size)
{
	const uint64_t h = sum_add(SUM_NONE, bytes, size);

	return (uint32_t)(h ^ h >> 32);
}

uint32_t pieces_put(struct pieces *to, const void *bytes, size_t size)
{
	uint32_t hash = hash_bytes(bytes, size);
	uint32_t row = HASH_FIND(i, &to->by_bytes, hash,
		to->piece[i].size == size && !memcmp(to->bytes + to->piece[i].at, bytes, size));

	if (row != HASH_NONE)
		return to->piece[row].at;
	while (to->room - to->size < size + 8) {
		to->room = to->room ? 2 * to->room : 1 << 16;
		to->bytes = memory_resize(to->bytes, to->room, 1);
	}
	to->piece = memory_grow(to->piece, to->pieces, sizeof(*to->piece));
	to->piece[to->pieces] = (struct piece){ (uint32_t)to->size, (uint32_t)size };
	memory_hash(&to->by_bytes, hash, to->pieces);
	memset(to->bytes + to->size, 0, size + 8);
	memcpy(to->bytes + to->size, bytes, size);
	to->size += (size + 7) / 8 * 8;
	return to->piece[to->pieces++].at;
}

uint32_t pieces_text(struct pieces *to, const char *text)
{
	return pieces_put(to, text, strlen(text) + 1);
}

void pieces_free(struct pieces *pieces)
{
	hash_free(&pieces->by_bytes);
	free(pieces->bytes);
	free(pieces->piece);
	*pieces = (struct pieces){ 0 };
}
