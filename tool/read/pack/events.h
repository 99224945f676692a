/* SPDX-License-Identifier: MIT */
/*
 * Blocks of events, taken apart and put together again (Events in format/pack.h). Both sides have the same model, which
 * predicts the high half of the next word; each word of any content comes back as it was.
 *
 * A coder is used by one thread at a time; it holds the model and the streams, 2.4 times the largest block that it had.
 */
#ifndef XAUDIT_TOOL_READ_PACK_EVENTS_H
#define XAUDIT_TOOL_READ_PACK_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/pack.h"
#include "format/trace.h"

struct pack_model {
	uint32_t long_table[1 << PACK_TABLE_BITS], short_table[1 << PACK_TABLE_BITS];
	uint32_t stack[PACK_DEPTH]; /* ids of open calls */
};

struct pack_coder {
	struct pack_model model;
	uint8_t *stream[PACK_STREAMS]; /* parts of one allocation, which begins at the first */
	size_t words; /* they have room for a block of so many words and some bytes */
};

/* Gives it room for a block of that size. Returns false if there is no memory. Begin with a coder that is all 0. */
bool pack_coder_room(struct pack_coder *coder, size_t raw);
void pack_coder_free(struct pack_coder *coder);

/* Bytes that a stream of a block of that many words may have. */
size_t pack_stream_room(enum pack_streams stream, size_t words);

/*
 * Takes a block apart; length: becomes the bytes of each stream. The coder has room for it.
 */
void pack_events_split(struct pack_coder *coder, const void *from, size_t raw, size_t length[PACK_STREAMS]);

/* Puts it together. Returns false if the streams are not those of a block of that size. */
bool pack_events_join(struct pack_coder *coder, const size_t length[PACK_STREAMS], void *to, size_t raw);

#endif
