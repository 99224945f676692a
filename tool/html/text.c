/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/html/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/text.h"
#include "tool/base/memory.h"

void html_string(FILE *to, const char *text)
{
	const char *shown;
	size_t length;

	if (!text) {
		fputs("null", to);
		return;
	}
	putc('"', to);
	while (*text) {
		text += text_next(text, &shown, &length);
		if (length == 1 && strchr("<>&", *shown))
			fprintf(to, "\\u%04x", (unsigned)*shown);
		else if (length == 1 && strchr("\"\\", *shown))
			fprintf(to, "\\%c", *shown);
		else
			fwrite(shown, 1, length, to);
	}
	putc('"', to);
}

void html_member(FILE *to, const char *between, const char *key, const char *text)
{
	fprintf(to, "%s\"%s\":", between, key);
	html_string(to, text);
}

void html_number(FILE *to, const char *between, const char *key, uint64_t number)
{
	if (number == UINT64_MAX)
		fprintf(to, "%s\"%s\":null", between, key);
	else
		fprintf(to, "%s\"%s\":%" PRIu64, between, key, number);
}

char *html_cut(char *text, size_t most)
{
	if (strlen(text) <= most)
		return text;
	while (most && ((unsigned char)text[most] & 0xc0) == 0x80)
		most--;
	/* There may be less room behind it than that takes. */
	text = memory_resize(text, most + sizeof("..."), 1);
	memcpy(text + most, "...", sizeof("..."));
	return text;
}

void html_open(struct html_memory *memory)
{
	*memory = (struct html_memory){ 0 };
	memory->to = memory_need(open_memstream(&memory->text, &memory->size));
}

void html_close(struct html_memory *memory)
{
	if (fclose(memory->to))
		memory_failed();
	memory->to = NULL;
}
