/* SPDX-License-Identifier: MIT */
#include "tool/base/csv.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/base/text.h"

struct csv csv_begin(FILE *to, bool terminal)
{
	return (struct csv){ .to = to, .terminal = terminal };
}

static void next(struct csv *csv)
{
	if (csv->some)
		putc(',', csv->to);
	csv->some = true;
}

void csv_heads(struct csv *csv, const char *heads)
{
	next(csv);
	fputs(heads, csv->to);
}

static void put_character(struct csv *csv, const char *p, size_t length)
{
	if (!length)
		fputs("\xef\xbf\xbd", csv->to);
	else if (csv->terminal && text_is_control((const unsigned char *)p, length))
		putc('?', csv->to);
	else if (*p == '"')
		fputs("\"\"", csv->to);
	else
		fwrite(p, 1, length, csv->to);
}

void csv_text(struct csv *csv, const char *text)
{
	next(csv);
	if (!text)
		return;
	/* Readers differ in what they do with blanks at the ends of a field that has no quotes. */
	size_t size = strlen(text);
	bool quotes = !size || text[strcspn(text, ",\"\r\n\t")] || *text == ' ' || text[size - 1] == ' ';

	if (quotes)
		putc('"', csv->to);
	while (*text) {
		size_t length = text_utf8((const unsigned char *)text);
		put_character(csv, text, length);
		text += length ? length : 1;
	}
	if (quotes)
		putc('"', csv->to);
}

void csv_number(struct csv *csv, uint64_t number)
{
	next(csv);
	fprintf(csv->to, "%" PRIu64, number);
}

void csv_share(struct csv *csv, uint64_t millionths)
{
	next(csv);
	fprintf(csv->to, "%" PRIu64 ".%06u", millionths / 1000000, (unsigned)(millionths % 1000000));
}

void csv_known(struct csv *csv, bool known, uint64_t number)
{
	if (known)
		csv_number(csv, number);
	else
		next(csv);
}

void csv_end(struct csv *csv)
{
	fputs("\r\n", csv->to);
	csv->some = false;
}
