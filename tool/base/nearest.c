/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/base/nearest.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

#define LONGEST 256 /* letters: nobody writes longer words from memory */
#define SLIPS_MOST 3

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static char small(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* row[i][k]: slips between the first letters of both, as many of `a` as its line's number says, and k of `b`. */
unsigned nearest_slips(const char *a, size_t a_length, const char *b, size_t b_length, unsigned most)
{
	unsigned row[3][LONGEST + 1], *before = row[0], *last = row[1], *next = row[2];
	size_t apart = a_length > b_length ? a_length - b_length : b_length - a_length;

	if (a_length > LONGEST || b_length > LONGEST || apart > most)
		return most + 1;
	for (size_t k = 0; k <= b_length; k++)
		last[k] = (unsigned)k;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned lowest = next[0] = (unsigned)i;

		for (size_t k = 1; k <= b_length; k++) {
			unsigned wrong = small(a[i - 1]) != small(b[k - 1]);

			next[k] = least(last[k - 1] + wrong, least(last[k], next[k - 1]) + 1);
			if (i > 1 && k > 1 && small(a[i - 1]) == small(b[k - 2]) && small(a[i - 2]) == small(b[k - 1]))
				next[k] = least(next[k], before[k - 2] + 1);
			lowest = least(lowest, next[k]);
		}
		/* Two lines above `most`, and no later one is below. */
		if (lowest > most + 1)
			return most + 1;
		unsigned *free = before;
		before = last;
		last = next;
		next = free;
	}
	return least(last[b_length], most + 1);
}

unsigned nearest_most(size_t length)
{
	return least((unsigned)(length / 3), SLIPS_MOST);
}

void nearest_look_as(struct nearest *nearest, const char *word, size_t length, const char *whole)
{
	size_t written = strlen(nearest->written);
	unsigned most = nearest->word ? nearest->slips : nearest_most(written) + 1;

	if (!most)
		return;
	unsigned slips = nearest_slips(nearest->written, written, word, length, most - 1);
	if (slips >= most)
		return;
	free(nearest->word);
	nearest->word = memory_text(whole, strlen(whole));
	nearest->slips = slips;
}

void nearest_look(struct nearest *nearest, const char *word)
{
	nearest_look_as(nearest, word, strlen(word), word);
}

void nearest_free(struct nearest *nearest)
{
	free(nearest->word);
	nearest->word = NULL;
}
