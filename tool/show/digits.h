/* SPDX-License-Identifier: MIT */
/*
 * Numbers as text where there are millions of lines: as printf() has them, in a tenth of its time. Each function writes
 * to a buffer that has room (DIGITS_MOST characters, or those that it names), without a NUL, and returns the end.
 *
 * It has no state. Any thread; async-signal-safe.
 */
#ifndef XAUDIT_TOOL_SHOW_DIGITS_H
#define XAUDIT_TOOL_SHOW_DIGITS_H

#include <stdint.h>
#include <string.h>

#define DIGITS_MOST 20

/* %0*u: the `width` last digits. */
static inline char *digits_fixed(char *to, uint32_t number, unsigned width)
{
	for (unsigned at = width; at; number /= 10)
		to[--at] = (char)('0' + number % 10);
	return to + width;
}

/* %lu */
static inline char *digits_put(char *to, uint64_t number)
{
	char text[DIGITS_MOST];
	unsigned at = DIGITS_MOST;

	do
		text[--at] = (char)('0' + number % 10);
	while (number /= 10);
	memcpy(to, text + at, DIGITS_MOST - at);
	return to + (DIGITS_MOST - at);
}

/* %*lu, of at most DIGITS_MOST columns. */
static inline char *digits_right(char *to, uint64_t number, unsigned width)
{
	char text[DIGITS_MOST];
	unsigned length = (unsigned)(digits_put(text, number) - text);

	for (; length < width; width--)
		*to++ = ' ';
	memcpy(to, text, length);
	return to + length;
}

/* %0*lx, of at most 16 columns. */
static inline char *digits_hex(char *to, uint64_t number, unsigned width)
{
	for (unsigned bits = 64; bits; bits -= 4)
		if (bits <= 4 * width || bits == 4 || number >> (bits - 4))
			*to++ = "0123456789abcdef"[number >> (bits - 4) & 15];
	return to;
}

/* Some text. */
static inline char *digits_text(char *to, const char *text, size_t length)
{
	memcpy(to, text, length);
	return to + length;
}

/* The same of a literal. */
#define DIGITS_WORD(to, word) digits_text(to, word, sizeof(word) - 1)

#endif
