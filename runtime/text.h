/* SPDX-License-Identifier: MIT */
/*
 * Building short texts without libc: paths and messages. The result is always NUL-terminated; what does not fit is cut.
 * Pure functions on the caller's buffer; async-signal-safe.
 */
#ifndef XAUDIT_TEXT_H
#define XAUDIT_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
	char *start;
	size_t size; /* at least 1 */
	size_t length;
};

static inline void text_char(struct text *text, char c)
{
	if (text->length + 1 < text->size)
		text->start[text->length++] = c;
	text->start[text->length] = '\0';
}

static inline void text_string(struct text *text, const char *string)
{
	while (*string)
		text_char(text, *string++);
}

static inline void text_number(struct text *text, uint64_t n)
{
	char digits[20];
	int i = 0;

	do {
		digits[i++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (i)
		text_char(text, digits[--i]);
}

/* What an error of the kernel means, in libc's words ("Permission denied"); of one that nothing here meets as a rule, "errno 74". error: errno or -errno. */
void text_error(struct text *text, long error);

#endif
