/* SPDX-License-Identifier: MIT */
/* Words and signs of a text in C's syntax, one after another. Keeps nothing. */
#ifndef XAUDIT_TOOL_VALUES_TOKEN_H
#define XAUDIT_TOOL_VALUES_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct token {
	const char *at; /* what comes next */
	uint32_t line;
	const char *word; /* the one at hand; length 0: the end of the text */
	size_t length;
	uint32_t word_line;
};

/* May it be in a name? */
bool token_letter(char c);

/* The next one: a name or number, `...`, `[[`, `]]`, or another character. Comments are none. */
void token_next(struct token *t);

#endif
