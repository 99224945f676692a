/* SPDX-License-Identifier: MIT */
/*
 * Short texts without libc, for the module and the command: building paths and messages, and finding characters that
 * would steer a terminal in names that come from files and from other processes. A text that is built always ends with
 * a NUL, and is cut if it does not fit. Pure functions on the caller's buffer; any thread, async-signal-safe.
 */
#ifndef XAUDIT_TEXT_H
#define XAUDIT_TEXT_H

#include <stdbool.h>
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

/*
 * Writes an error of the kernel in libc's words ("Permission denied"); for a rare one, "errno 74". error: errno or
 * -errno.
 */
void text_error(struct text *text, long error);

/*
 * Length of the UTF-8 character at p (RFC 3629: shortest form, no surrogates, up to U+10FFFF); 0: there is no such
 * character. It looks no further than the first zero byte, so one must follow the text. A NUL has length 1.
 */
static inline size_t text_utf8(const unsigned char *p)
{
	unsigned low = 0x80, high = 0xbf; /* limits of the second byte: they keep out long forms and surrogates */
	size_t length;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		length = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		length = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		length = 4;
	else
		return 0;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (p[1] < low || p[1] > high)
		return 0;
	/* A NUL is no continuation byte, so this stops at the end of the string. */
	for (size_t i = 2; i < length; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	return length;
}

/*
 * Does the character at p, of that length by text_utf8(), steer a terminal instead of being shown? U+0000 to U+001F,
 * U+007F to U+009F (where U+009B does what ESC [ does), and those that end a line or turn the direction of writing
 * (U+2028 to U+202E, U+2066 to U+2069), after which a name could look like another.
 */
static inline bool text_is_control(const unsigned char *p, size_t length)
{
	if (length == 1)
		return p[0] < ' ' || p[0] == 0x7f;
	if (length == 2)
		return p[0] == 0xc2 && p[1] < 0xa0;
	return length == 3 && p[0] == 0xe2 &&
		((p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae) || (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

/*
 * The next character of a text for people to read: sets *shown to the bytes to show, which are "?" in place of a
 * control character or of a byte that is no UTF-8, and *length to their number. Returns how many bytes of the text they
 * stand for. *p must not be NUL.
 */
static inline size_t text_next(const char *p, const char **shown, size_t *length)
{
	size_t n = text_utf8((const unsigned char *)p);

	if (n && !text_is_control((const unsigned char *)p, n)) {
		*shown = p;
		*length = n;
		return n;
	}
	*shown = "?";
	*length = 1;
	return n ? n : 1;
}

/* Changes a text in place so that it is harmless on a terminal (text_next()); it does not get longer. Returns its
 * length. */
static inline size_t text_clean(char *text)
{
	const char *from = text, *shown;
	size_t length, to = 0;

	while (*from) {
		from += text_next(from, &shown, &length);
		for (size_t i = 0; i < length; i++)
			text[to++] = shown[i];
	}
	text[to] = '\0';
	return to;
}

#endif
