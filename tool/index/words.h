/* SPDX-License-Identifier: MIT */
/*
 * Words that ld.so fills with the addresses of other objects' functions, but for PLT slots; and the code that calls by
 * way of them (format/index.h, struct index_word). Found while all code is decoded (facts.h). A part of the code is
 * seen by one thread.
 */
#ifndef XAUDIT_TOOL_INDEX_WORDS_H
#define XAUDIT_TOOL_INDEX_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "format/index.h"

struct image;
struct insn;

struct words_call {
	uint64_t address; /* of its displacement */
	uint32_t word;
};

struct words {
	struct index_word *word; /* by address */
	size_t count;
	struct words_call *call; /* after words_end(): by word, then by address */
	size_t calls;
};

/* Finds the words. */
void words_begin(struct words *words, const struct image *image);

/* Any instruction of the file. */
void words_see(struct words *words, const struct insn *insn);

/*
 * For a thread that sees a part of the code: the same words, of which nothing was seen yet; and what it has seen then.
 * Parts are joined in the order of the code, and freed.
 */
void words_part(struct words *part, const struct words *words);
void words_join(struct words *words, struct words *part);

void words_end(struct words *words);
void words_free(struct words *words);

#endif
