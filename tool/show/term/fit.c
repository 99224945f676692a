/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/term/fit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "runtime/base/text.h"
#include "tool/base/memory.h"
#include "tool/show/term/cut.h"

/* ---- pieces of a line ---- */

enum what { WHAT_TEXT, WHAT_ESCAPE, WHAT_BEGIN, WHAT_NAME, WHAT_END };

struct piece {
	enum what what;
	size_t bytes;
	unsigned columns;
};

static unsigned columns_of(const unsigned char *p, size_t bytes)
{
	uint32_t c = bytes == 1 ? *p : *p & (0x7fu >> bytes);

	for (size_t i = 1; i < bytes; i++)
		c = c << 6 | (p[i] & 0x3fu);
	int width = c < 0x80 ? 1 : wcwidth((wchar_t)c);
	/* It is new, or the terminal's locale lacks it: then it may well be shown as one character. */
	return width < 0 ? 1 : (unsigned)width;
}

/* The piece at p. A zero byte must be at the end, or before. */
static struct piece piece_at(const char *p, const char *end)
{
	if (*p == FIT_BEGIN || *p == FIT_NAME || *p == FIT_END)
		return (struct piece){ *p == FIT_BEGIN ? WHAT_BEGIN : *p == FIT_NAME ? WHAT_NAME : WHAT_END, 1, 0 };
	if (*p == '\033' && p + 1 < end && p[1] == '[') {
		size_t bytes = 2;

		while (p + bytes < end && (p[bytes] == ';' || (p[bytes] >= '0' && p[bytes] <= '9')))
			bytes++;
		return (struct piece){ WHAT_ESCAPE, bytes + (p + bytes < end), 0 };
	}
	size_t bytes = text_utf8((const unsigned char *)p);
	if (!bytes || bytes > (size_t)(end - p))
		return (struct piece){ WHAT_TEXT, 1, 1 };
	return (struct piece){ WHAT_TEXT, bytes, *p == '\n' ? 0 : columns_of((const unsigned char *)p, bytes) };
}

size_t fit_character(const char *p, const char *end, unsigned *columns)
{
	struct piece piece = piece_at(p, end);

	*columns = piece.columns;
	return piece.bytes;
}

size_t fit_columns(const char *line, size_t length)
{
	size_t columns = 0;

	for (const char *p = line, *end = line + length; p < end;) {
		struct piece piece = piece_at(p, end);
		columns += piece.columns;
		p += piece.bytes;
	}
	return columns;
}

/* ---- elastic parts ---- */

struct part {
	size_t columns, keeps;
};

static bool begins(const struct piece *piece)
{
	return piece->what == WHAT_BEGIN || piece->what == WHAT_NAME;
}

/* Finds the parts of the line. The caller frees them. */
static struct part *find_parts(const char *line, const char *end, size_t *count)
{
	struct part *part = NULL;
	size_t n = 0;
	bool open = false;

	for (const char *p = line; p < end;) {
		struct piece piece = piece_at(p, end);
		if (begins(&piece)) {
			part = memory_resize(part, n + 1, sizeof(*part));
			part[n++] = (struct part){ 0 };
		}
		open = begins(&piece) || (open && piece.what != WHAT_END);
		if (open)
			part[n - 1].columns += piece.columns;
		p += piece.bytes;
	}
	for (size_t i = 0; i < n; i++)
		part[i].keeps = part[i].columns;
	*count = n;
	return part;
}

/* Takes columns away from the widest part, until enough are gone or none has any left to give. */
static void shrink(struct part *part, size_t parts, size_t too_many)
{
	while (too_many) {
		size_t widest = 0;

		for (size_t i = 1; i < parts; i++)
			if (part[i].keeps > part[widest].keeps)
				widest = i;
		if (!parts || part[widest].keeps <= FIT_KEEPS)
			return;
		size_t give = part[widest].keeps - FIT_KEEPS;
		give = give < too_many ? give : too_many;
		part[widest].keeps -= give;
		too_many -= give;
	}
}

/* ---- writing ---- */

/* What may still be written before an ellipsis; `cut` once that is written. */
struct limit {
	size_t left;
	bool applies, cut;
};

/* Returns whether the piece is to be written; if it is the first that has no room, writes the ellipsis. */
static bool admit(struct limit *limit, const struct piece *piece, FILE *to, const char *ellipsis)
{
	if (!limit->applies || (!limit->cut && piece->columns <= limit->left)) {
		limit->left -= limit->applies ? piece->columns : 0;
		return true;
	}
	if (!limit->cut)
		fputs(ellipsis, to);
	limit->cut = true;
	return false;
}

static struct limit limit_of(size_t columns, size_t may, size_t ellipsis)
{
	return (struct limit){ may > ellipsis ? may - ellipsis : 0, columns > may, false };
}

static size_t sum_of(const struct part *part, size_t parts, size_t columns)
{
	for (size_t i = 0; i < parts; i++)
		columns -= part[i].columns - part[i].keeps;
	return columns;
}

/* Parts are cut first; `to` gets a line without marks. */
static void write_parts(FILE *to, const char *line, const char *end, const struct part *part, const char *ellipsis)
{
	size_t wide = fit_columns(ellipsis, strlen(ellipsis)), n = 0;
	struct limit limit = { 0 };

	for (const char *p = line; p < end;) {
		struct piece piece = piece_at(p, end);
		if (piece.what == WHAT_NAME && part[n].columns > part[n].keeps) {
			const char *name_end = memchr(p, FIT_END, (size_t)(end - p));
			name_end = name_end ? name_end : end;
			cut_name(to, p + 1, (size_t)(name_end - p - 1), part[n].keeps, ellipsis);
			piece.bytes = (size_t)(name_end - p);
			n++;
		} else if (begins(&piece)) {
			limit = limit_of(part[n].columns, part[n].keeps, wide);
			n++;
		} else if (piece.what == WHAT_END) {
			limit = (struct limit){ 0 };
		} else if (piece.what == WHAT_ESCAPE || admit(&limit, &piece, to, ellipsis)) {
			fwrite(p, 1, piece.bytes, to);
		}
		p += piece.bytes;
	}
}

static void write_right(FILE *to, const char *line, const char *end, size_t columns, unsigned may, const char *ellipsis)
{
	struct limit limit = limit_of(columns, may, fit_columns(ellipsis, strlen(ellipsis)));

	for (const char *p = line; p < end;) {
		struct piece piece = piece_at(p, end);
		if (piece.what == WHAT_ESCAPE || *p == '\n' || admit(&limit, &piece, to, ellipsis))
			fwrite(p, 1, piece.bytes, to);
		p += piece.bytes;
	}
}

void fit_line(FILE *to, const char *line, size_t length, unsigned columns, const char *ellipsis)
{
	size_t parts, shorter_size, all = fit_columns(line, length);
	struct part *part = find_parts(line, line + length, &parts);
	char *shorter;

	if (all > columns)
		shrink(part, parts, all - columns);
	if (sum_of(part, parts, all) <= columns) {
		write_parts(to, line, line + length, part, ellipsis);
	} else {
		FILE *memory = memory_need(open_memstream(&shorter, &shorter_size));
		write_parts(memory, line, line + length, part, ellipsis);
		fclose(memory);
		memory_need(shorter);
		write_right(to, shorter, shorter + shorter_size, fit_columns(shorter, shorter_size), columns, ellipsis);
		free(shorter);
	}
	free(part);
}
