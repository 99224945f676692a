/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/term/cut.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/show/term/cxx_text.h"
#include "tool/show/term/fit.h"

#define LISTS_MOST 32 /* lists of arguments that are cut; what is in the others stays */

/* What is between two brackets that are in no others. */
struct list {
	const char *begin, *end;
	size_t columns, keeps;
};

struct parts {
	struct list list[LISTS_MOST];
	unsigned lists;
	const char *method; /* where its name begins */
};

static size_t columns_of(const char *from, const char *to)
{
	return fit_columns(from, (size_t)(to - from));
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* ---- what a name is made of ---- */

/* What was met so far outside of brackets. */
struct state {
	bool converts;	 /* the name of a conversion: what follows is a type */
	bool has_opened; /* parameters are open, */
	bool is_over;	 /* or closed: what follows is no name, unless colons are in between */
};

/* A word, or an operator, that is in no brackets: is it where the method's name begins, as far as was read? */
static bool begins_method(const struct cxx_text *text, const char *name, const struct state *state)
{
	if (state->converts)
		return false;
	if (text->before == CXX_TEXT_COLONS || text->piece == name)
		return true;
	/* A return type stands in front of a blank. */
	return text->piece[-1] == ' ' && !state->is_over;
}

static void take_word(struct parts *parts, const struct cxx_text *text, const char *name, struct state *state)
{
	if (begins_method(text, name, state))
		parts->method = text->piece;
	/* "operator new", "operator int", "operator ns::A" */
	state->converts |= text->length == 8 && !memcmp(text->piece, "operator", 8);
}

static void take_open(struct parts *parts, const struct cxx_text *text, struct state *state)
{
	/* As in "decltype (x) f()", it does not always follow the name. */
	state->has_opened = *text->piece == '(' && text->before != CXX_TEXT_SIGN && text->before != CXX_TEXT_END;
	if (*text->piece != '[' && parts->lists < LISTS_MOST)
		parts->list[parts->lists++] = (struct list){ .begin = text->at };
}

static void take_close(struct parts *parts, const struct cxx_text *text, struct state *state)
{
	if (*text->piece != ']' && parts->lists && !parts->list[parts->lists - 1].end)
		parts->list[parts->lists - 1].end = text->piece;
	state->is_over |= state->has_opened;
	state->converts &= !state->has_opened;
}

/* Returns whether the brackets can be told. */
static bool find_parts(const char *name, size_t length, struct parts *parts)
{
	struct cxx_text text = { .at = name, .end = name + length };
	struct state state = { 0 };
	enum cxx_text_what what;

	*parts = (struct parts){ .method = name };
	while ((what = cxx_text_next(&text)) != CXX_TEXT_END) {
		if (what == CXX_TEXT_WRONG)
			return false;
		if (what == CXX_TEXT_OPEN && text.depth == 1)
			take_open(parts, &text, &state);
		else if (what == CXX_TEXT_CLOSE && !text.depth)
			take_close(parts, &text, &state);
		else if ((what == CXX_TEXT_WORD || what == CXX_TEXT_OPERATOR) && !text.depth)
			take_word(parts, &text, name, &state);
	}
	return true;
}

/* ---- shorter lists ---- */

/* The sum of what the lists keep at most, if none keeps more than so much. */
static size_t kept(const struct parts *parts, size_t most)
{
	size_t sum = 0;

	for (unsigned i = 0; i < parts->lists; i++)
		sum += least(parts->list[i].columns, most);
	return sum;
}

/* Has the lists keep no more than `room` together, if they can: each has an ellipsis, or all that is in it. */
static void shorten(struct parts *parts, size_t room, size_t wide)
{
	size_t low = wide, high = room > wide ? room : wide;

	while (low < high) {
		size_t middle = high - (high - low) / 2;
		if (kept(parts, middle) <= room)
			low = middle;
		else
			high = middle - 1;
	}
	size_t left = room > kept(parts, low) ? room - kept(parts, low) : 0;
	for (unsigned i = 0; i < parts->lists; i++) {
		struct list *list = &parts->list[i];
		list->keeps = least(list->columns, low);
		if (list->keeps < list->columns && left) {
			list->keeps++;
			left--;
		}
	}
}

/* Writes what is at the beginning, in at most so many columns. */
static void write_head(FILE *to, const char *from, const char *end, size_t columns)
{
	const char *at = from;

	for (size_t wide; at < end; at += wide) {
		unsigned takes;
		wide = fit_character(at, end, &takes);
		if (takes > columns)
			break;
		columns -= takes;
	}
	fwrite(from, 1, (size_t)(at - from), to);
}

/* Where the end of a text begins that takes at most so many columns. */
static const char *find_tail(const char *from, const char *end, size_t columns)
{
	for (size_t all = columns_of(from, end); all > columns;) {
		unsigned takes;
		from += fit_character(from, end, &takes);
		all -= takes;
	}
	return from;
}

static void write_middle(FILE *to, const struct list *list, const char *ellipsis, size_t wide)
{
	size_t rest = list->keeps > wide ? list->keeps - wide : 0;

	write_head(to, list->begin, list->end, rest - rest / 2);
	fputs(ellipsis, to);
	const char *tail = find_tail(list->begin, list->end, rest / 2);
	fwrite(tail, 1, (size_t)(list->end - tail), to);
}

/* The name with its lists as short as they were made. *method: where the method's name is in it. To be freed. */
static char *shorter(const char *name, const char *end, const struct parts *parts, const char *ellipsis, size_t *length,
	size_t *method)
{
	size_t wide = fit_columns(ellipsis, strlen(ellipsis));
	char *text;
	FILE *to = memory_need(open_memstream(&text, length));

	*method = SIZE_MAX;
	for (unsigned i = 0; i <= parts->lists; i++) {
		const struct list *list = i < parts->lists ? &parts->list[i] : NULL;
		const char *next = list ? list->begin : end;
		if (parts->method >= name && parts->method < next && *method == SIZE_MAX)
			*method = (size_t)(ftello(to) + (parts->method - name));
		fwrite(name, 1, (size_t)(next - name), to);
		if (list && list->keeps < list->columns)
			write_middle(to, list, ellipsis, wide);
		else if (list)
			fwrite(list->begin, 1, (size_t)(list->end - list->begin), to);
		name = list ? list->end : name;
	}
	if (fclose(to))
		memory_failed();
	return text;
}

/* ---- writing ---- */

static void cut_right(FILE *to, const char *name, size_t length, size_t room, const char *ellipsis)
{
	write_head(to, name, name + length, room - fit_columns(ellipsis, strlen(ellipsis)));
	fputs(ellipsis, to);
}

/* Keeps the method's name, and what is left of what stands in front of it. */
static void cut_left(FILE *to, const char *name, size_t length, size_t method, size_t room, const char *ellipsis)
{
	size_t wide = fit_columns(ellipsis, strlen(ellipsis)), columns = fit_columns(name + method, length - method);

	if (!method || columns + wide > room) {
		if (columns > room)
			cut_right(to, name + method, length - method, room, ellipsis);
		else
			fwrite(name + method, 1, length - method, to);
		return;
	}
	const char *tail = find_tail(name, name + method, room - wide - columns);
	/* One ellipsis is enough. */
	if ((size_t)(name + method - tail) >= strlen(ellipsis) && !memcmp(tail, ellipsis, strlen(ellipsis)))
		tail += strlen(ellipsis);
	fputs(ellipsis, to);
	fwrite(tail, 1, (size_t)(name + length - tail), to);
}

void cut_name(FILE *to, const char *name, size_t length, size_t room, const char *ellipsis)
{
	size_t wide = fit_columns(ellipsis, strlen(ellipsis)), fixed = fit_columns(name, length), method;
	struct parts parts;

	if (!find_parts(name, length, &parts)) {
		cut_right(to, name, length, room, ellipsis);
		return;
	}
	for (unsigned i = 0; i < parts.lists; i++) {
		parts.list[i].columns = columns_of(parts.list[i].begin, parts.list[i].end);
		fixed -= parts.list[i].columns;
	}
	shorten(&parts, room > fixed ? room - fixed : 0, wide);
	char *text = shorter(name, name + length, &parts, ellipsis, &length, &method);
	if (fit_columns(text, length) <= room)
		fwrite(text, 1, length, to);
	else
		cut_left(to, text, length, method, room, ellipsis);
	free(text);
}
