/* SPDX-License-Identifier: MIT */
/*
 * The part of a line that tells of a function, made once: of the millions of lines that dump and replay write, most
 * differ by their numbers alone. Not where lines are cut to a terminal, as marks would be missing in it (term.h).
 *
 * Memory: for each function that was asked for. One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_FUNCTION_TEXT_H
#define XAUDIT_TOOL_SHOW_FUNCTION_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/read/api/xaudit-read.h"

#define FUNCTION_TEXT_MOST 4096 /* bytes; a function with more has no such text */

struct function_text {
	char *text;    /* NULL: not made yet */
	size_t length; /* 0: too long */
};

struct function_texts {
	/* Writes it. */
	void (*write)(void *user, FILE *file, const struct xaudit_read_function *function);
	void *user;
	struct function_text *function; /* by number in the trace */
	uint32_t functions;
};

/* NULL: there is none, so the line has to be written piece by piece. */
const struct function_text *function_text_of(
	struct function_texts *texts, const struct xaudit_read_function *function);
void function_texts_free(struct function_texts *texts);

#endif
