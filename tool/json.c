/* SPDX-License-Identifier: MIT */
#include "tool/json.h"

size_t utf8_length(const unsigned char *p)
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

void json_string(FILE *file, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	if (!p) {
		fputs("null", file);
		return;
	}
	putc('"', file);
	while (*p) {
		size_t length = utf8_length(p);

		if (!length) {
			fputs("\\ufffd", file);
			p++;
			continue;
		}
		if (*p == '"' || *p == '\\')
			putc('\\', file);
		if (*p < 0x20 || *p == 0x7f)
			fprintf(file, "\\u%04x", *p);
		else
			fwrite(p, 1, length, file);
		p += length;
	}
	putc('"', file);
}
