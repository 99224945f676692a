/* SPDX-License-Identifier: MIT */
/*
 * The word that somebody probably meant who wrote another one: of all words that it is shown, the one with the fewest
 * slips of the hand between them - a letter too many, too few, wrong, or changed places with its neighbour. One thread.
 *
 *	struct nearest nearest = { .written = "recrod" };
 *	nearest_look(&nearest, "record");
 *	... nearest.word is "record", or NULL if nothing is near ...
 *	nearest_free(&nearest);
 */
#ifndef XAUDIT_TOOL_NEAREST_H
#define XAUDIT_TOOL_NEAREST_H

#include <stddef.h>

struct nearest {
	const char *written;
	char *word;	/* a copy; the first of those that are equally near */
	unsigned slips; /* between the two */
};

/*
 * How many slips make one word of the other, letters being the same whether they are large or small; `most` + 1 if they
 * are more than `most`.
 */
unsigned nearest_slips(const char *a, size_t a_length, const char *b, size_t b_length, unsigned most);

/* As many slips as may be told from another word: one in three letters, at most three. */
unsigned nearest_most(size_t length);

void nearest_look(struct nearest *nearest, const char *word);

/* The same for a word that stands for another, which is what is to be written. */
void nearest_look_as(struct nearest *nearest, const char *word, size_t length, const char *whole);

void nearest_free(struct nearest *nearest);

#endif
