/* SPDX-License-Identifier: MIT */
/*
 * For formats of text that write as much for each call: numbers without printf(), and texts that are made once per
 * function. One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_TEXTS_H
#define XAUDIT_TOOL_EXPORT_TEXTS_H

#include <stdint.h>
#include <string.h>

#include "tool/export/format.h"

#define TEXTS_DIGITS 24 /* the most that texts_us() or tool/show/digits.h write of a number */

/* Writes ns in us at `at`, with no more decimals than they need: 12.5. Returns where they end. */
char *texts_us(char *at, uint64_t ns);

/* The same for words of which the compiler knows the length. */
#define TEXTS_PUT(at, word) ((char *)memcpy(at, word, sizeof(word) - 1) + sizeof(word) - 1)

struct texts_one {
	char *text; /* NULL: not made yet */
	size_t size;
};

/* Texts by the numbers of functions. Zeroed memory has none. */
struct texts {
	struct texts_one *one;
	uint32_t room;
	void (*write)(FILE *to, const struct xaudit_read_function *function); /* makes one; set by who has it */
};

/* The text of a function, made when it is first asked for. Valid until the next one is asked for. */
const struct texts_one *texts_of(struct texts *texts, const struct xaudit_read_function *function);

static inline void texts_write(FILE *to, const struct texts_one *text)
{
	fwrite_unlocked(text->text, 1, text->size, to);
}

void texts_free(struct texts *texts);

#endif
