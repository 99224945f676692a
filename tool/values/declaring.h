/* SPDX-License-Identifier: MIT */
/*
 * The words of declarations (prototype.h), and their attributes. Private to prototype.c and declaring.c. What is kept
 * of a text lives as long as the list that it is added to.
 *
 * Memory that runs out ends the command. One thread.
 */
#ifndef XAUDIT_TOOL_VALUES_DECLARING_H
#define XAUDIT_TOOL_VALUES_DECLARING_H

#include "tool/values/prototype.h"
#include "tool/values/token.h"

/* Copies of all words that are kept. */
struct declaring_words {
	char **word;
	size_t words;
};

struct declaring {
	struct prototypes *of;
	struct declaring_words *words;
	struct token t;
	struct prototypes_wrong *wrong;
};

/* Always false. */
bool declaring_fail(struct declaring *p, const char *before, const char *after);

void declaring_next(struct declaring *p);
/* Is that the word at hand? */
bool declaring_is(const struct declaring *p, const char *word);
/* As it is, and then it is passed. */
bool declaring_take(struct declaring *p, const char *word);
bool declaring_expect(struct declaring *p, const char *word, const char *message);
bool declaring_is_name(const struct declaring *p);
/* A copy of the word at hand, which is kept. */
const char *declaring_word(struct declaring *p);
/* A copy of another one. */
const char *declaring_keep(struct declaring *p, const char *word);
bool declaring_number(struct declaring *p, int64_t *number);

/* What stands before a declaration or a parameter, or behind the name of a value. */
struct declaring_attributes {
	uint8_t marks;
	bool are_flags, is_text, is_address, is_hex, has_fails, has_mask, is_packed;
	int64_t fails, mask;
	const char *bytes, *array, *names, *libraries;
	/* if(NAME, VALUE, VALUE...); unless(...), with is_not */
	const char *depends, *value[PROTOTYPE_VALUES];
	bool negative[PROTOTYPE_VALUES], is_not;
	uint8_t values;
};

bool declaring_attributes(struct declaring *p, struct declaring_attributes *a);

#endif
