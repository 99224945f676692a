/* SPDX-License-Identifier: MIT */
/*
 * The part of a line that tells of a function, made once: of the millions of lines that dump, replay and formats of
 * text write, most differ by their numbers alone.
 *
 * Memory: for each function that was asked for. One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_FUNCTION_TEXT_H
#define XAUDIT_TOOL_SHOW_FUNCTION_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/read/api/xaudit-read.h"

#define FUNCTION_TEXT_MOST 4096 /* bytes that function_text_of() gives */

struct function_text {
	char *text;    /* NULL: not made yet */
	size_t length;
};

struct function_texts {
	/* Writes it. */
	void (*write)(void *user, FILE *file, const struct xaudit_read_function *function);
	void *user;
	struct function_text *function; /* by number in the trace */
	uint32_t functions;
};

/* Valid until the next one is asked for. */
const struct function_text *function_text_made(
	struct function_texts *texts, const struct xaudit_read_function *function);

/*
 * The same for a line in a buffer, on which a terminal may be told. NULL: there is none, so the line has to be written
 * piece by piece: it is too long, or lines are cut to the terminal, as marks would be missing in it (term.h).
 */
const struct function_text *function_text_of(
	struct function_texts *texts, const struct xaudit_read_function *function);

static inline void function_text_write(FILE *to, const struct function_text *text)
{
	fwrite_unlocked(text->text, 1, text->length, to);
}

void function_texts_free(struct function_texts *texts);

#endif
