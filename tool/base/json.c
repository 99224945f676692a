/* SPDX-License-Identifier: MIT */
#include "tool/base/json.h"

#include <string.h>

#include "runtime/base/text.h"

void json_bytes(FILE *file, const char *text, size_t size)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + size;

	putc('"', file);
	while (p < end) {
		size_t length = text_utf8(p);

		if (!length) {
			fputs("\\ufffd", file);
			p++;
			continue;
		}
		if (*p == '"' || *p == '\\')
			putc('\\', file);
		if (text_is_control(p, length) && length < 3) /* U+0080 to U+009F: 0xc2 and the number itself */
			fprintf(file, "\\u%04x", p[length - 1]);
		else if (text_is_control(p, length))
			fprintf(file, "\\u%04x", 0x2000 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu));
		else
			fwrite(p, 1, length, file);
		p += length;
	}
	putc('"', file);
}

void json_string(FILE *file, const char *text)
{
	if (text)
		json_bytes(file, text, strlen(text));
	else
		fputs("null", file);
}
