/* SPDX-License-Identifier: MIT */
/*
 * Plain words of dense ones (format/dense.h): written by the format's text, not with the code that makes and reads them
 * elsewhere, so that the tests see where the two differ.
 */
#ifndef XAUDIT_TEST_PLAIN_H
#define XAUDIT_TEST_PLAIN_H

#include <stdint.h>
#include <string.h>

#include "format/trace.h"

/* Sets the words of the chunk, for which there is room behind its head: the codes are those before `end`. */
static inline void plain_words(struct trace_chunk *chunk, const uint16_t *code, const uint16_t *end)
{
	uint64_t *word = (uint64_t *)(chunk + 1), *limit = (uint64_t *)((char *)chunk + chunk->used);
	uint32_t table[1 << 9] = { 0 }, low = (uint32_t)chunk->clock, newer = 0, older = 0;

	while (code < end && word < limit) {
		unsigned place = *code & 511, kind = *code++ >> 9;
		if (kind < 120) {
			low += kind < 96 ? kind : (kind - 96) << 16 | *code++;
			older = newer;
			newer = table[place];
			*word++ = (uint64_t)newer << 32 | low;
		} else if (kind == 126) {
			for (unsigned pairs = *code++; pairs && limit - word >= 2; pairs--, code++) {
				*word++ = (uint64_t)older << 32 | (low += *code & 255);
				*word++ = (uint64_t)newer << 32 | (low += *code >> 8);
			}
		} else {
			memcpy(word, code, 8);
			older = newer;
			newer = (uint32_t)(*word >> 32);
			low = (uint32_t)*word;
			table[newer * 0x9e3779b1u >> 23] = newer;
			size_t words = place + 1;
			words = words < (size_t)(limit - word) ? words : (size_t)(limit - word);
			memcpy(word, code, 8 * words);
			word += words;
			code += 4 * words;
		}
	}
	chunk->version = TRACE_VERSION;
	chunk->used = (uint64_t)((char *)word - (char *)chunk);
	chunk->dense = 0;
}

#endif
