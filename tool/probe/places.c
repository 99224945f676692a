/* SPDX-License-Identifier: MIT */
#include "tool/probe/places.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "audit/match/cxx.h"
#include "audit/match/match.h"
#include "tool/base/memory.h"
#include "tool/base/nearest.h"
#include "tool/base/tool.h"
#include "tool/index/image.h"
#include "tool/probe/finding.h"
#include "tool/probe/lines.h"
#include "tool/probe/returns.h"
#include "tool/probe/symbols.h"
#include "tool/probe/usdt.h"

#define FORMS                                                                                                          \
	"allowed: SYMBOL, SYMBOL+OFFSET, SYMBOL%%return, ADDRESS, FILE:LINE or usdt:PROVIDER:NAME, each with "         \
	"@LIBRARY behind it"

/* ---- reading ---- */

/* Octal, decimal or hexadecimal, and nothing else. */
static bool take_number(const char *text, size_t length, uint64_t *number)
{
	char copy[32], *end;

	if (!length || length >= sizeof(copy) || !isdigit((unsigned char)*text))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	errno = 0;
	*number = strtoull(copy, &end, 0);
	return !*end && !errno;
}

static bool fail(char **wrong, char *text)
{
	*wrong = text;
	return false;
}

/* what: "addresses" or "offsets". */
static bool fail_number(char **wrong, const struct place *to, const char *text, size_t length, const char *what)
{
	const bool is_hex = length > 2 && !strncasecmp(text, "0x", 2);
	const char *digits = is_hex ? "0123456789abcdefABCDEF" : length && *text == '0' ? "01234567" : "0123456789";
	const size_t from = is_hex ? 2 : 0;

	/* One that would be a number, if it had fewer digits. */
	if (length && strspn(text + from, digits) >= length - from)
		return fail(wrong, memory_format("'%.*s' in '%s' is too large; %s have 64 bits", (int)length, text,
			to->text, what));
	return fail(wrong, memory_format("'%.*s' in '%s' is no number; %s are octal (0NNN), decimal or hexadecimal "
					 "(0xNNN)", (int)length, text, to->text, what));
}

/* The first ':' that is none of a C++ name's "::"; NULL: there is none. */
static const char *single_colon(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] != ':')
			continue;
		if (i + 1 < length && text[i + 1] == ':')
			i++;
		else
			return text + i;
	}
	return NULL;
}

/* libfoo.so, libfoo.so.1, libfoo.so* */
static bool is_library(const char *text, size_t length)
{
	for (size_t i = 0; i + 3 <= length; i++)
		if (!strncmp(text + i, ".so", 3) && (i + 3 == length || strchr(".*?[-", text[i + 3])))
			return true;
	return false;
}

static bool take_usdt(struct place *to, const char *text, size_t length, char **wrong)
{
	const char *name = single_colon(text, length);

	if (!name || name == text || name + 1 == text + length)
		return fail(wrong, memory_format("'%s' is not usdt:PROVIDER:NAME, as in usdt:python:line", to->text));
	to->kind = PLACE_USDT;
	to->symbol = memory_text(text, (size_t)(name - text));
	to->name = memory_text(name + 1, (size_t)(text + length - name - 1));
	return true;
}

/* SYMBOL, SYMBOL+OFFSET, SYMBOL%return, ADDRESS. */
static bool take_code(struct place *to, const char *text, size_t length, char **wrong)
{
	static const char returns[] = "%return";
	const size_t behind = sizeof(returns) - 1;
	size_t plus = length;

	if (length && isdigit((unsigned char)*text)) {
		to->kind = PLACE_ADDRESS;
		return take_number(text, length, &to->offset) || fail_number(wrong, to, text, length, "addresses");
	}
	if (length > behind && !strncmp(text + length - behind, returns, behind)) {
		to->kind = PLACE_RETURN;
		length -= behind;
	} else {
		to->kind = PLACE_SYMBOL;
		while (plus && text[plus - 1] != '+')
			plus--;
		/* "operator+" ends with one. */
		if (plus && !(cxx_names_operator(text, length) && !take_number(text + plus, length - plus,
									       &to->offset))) {
			if (!take_number(text + plus, length - plus, &to->offset))
				return fail_number(wrong, to, text + plus, length - plus, "offsets");
			length = plus - 1;
		}
	}
	if (!length)
		return fail(wrong, memory_format("'%s' names no function; " FORMS, to->text));
	to->symbol = memory_text(text, length);
	if (!cxx_has_more(to->symbol))
		return true;
	return fail(wrong, memory_format("no function has the name '%s': leave out parameters and template arguments, "
					 "it stands for all overloads and instances", to->symbol));
}

/* What has a ':' in the middle: FILE:LINE, or LIB in front. */
static bool take_colon(struct place *to, const char *text, size_t length, const char *colon, char **wrong)
{
	size_t front = (size_t)(colon - text), behind = length - front - 1;
	uint64_t number;

	if (!front || !behind)
		return fail(wrong, memory_format("nothing stands %s ':' in '%s'; " FORMS, front ? "behind" : "before",
			to->text));
	/* Lines don't begin with 0, addresses as nm shows them do. */
	if (take_number(colon + 1, behind, &number) && colon[1] != '0' && !is_library(text, front)) {
		/* The end of a path has no such beginning, but people complete names of files. */
		while (front > 2 && !strncmp(text, "./", 2)) {
			text += 2;
			front -= 2;
		}
		to->kind = PLACE_LINE;
		to->symbol = memory_text(text, front);
		to->offset = number;
		return true;
	}
	if (to->library)
		return fail(wrong, memory_format("'%s' names two libraries, '%.*s' and '%s'; allowed: one", to->text,
			(int)front, text, to->library));
	to->library = memory_text(text, front);
	return take_code(to, colon + 1, behind, wrong);
}

/* What belongs before the library, and stands behind it: +OFFSET or %return. NULL: nothing does. */
static const char *misplaced(const char *library)
{
	const char *plus = strrchr(library, '+'), *returns = strrchr(library, '%');
	uint64_t number;

	if (returns && !strcmp(returns, "%return"))
		return returns;
	return plus && take_number(plus + 1, strlen(plus + 1), &number) ? plus : NULL;
}

static bool take(struct place *to, char **wrong)
{
	static const char usdt[] = "usdt:";
	const char *text = to->text, *at = strchr(text, '@');
	size_t length = at ? (size_t)(at - text) : strlen(text);

	if (strpbrk(text, "\t\n"))
		return fail(wrong, memory_format("'%s' holds a tab or a line break, which no place has", text));
	if (at && !at[1])
		return fail(wrong, memory_format("no library stands behind '@' in '%s'", text));
	if (at && misplaced(at + 1))
		return fail(wrong, memory_format("'%s' stands behind the library in '%s'; allowed: SYMBOL%s@LIBRARY",
			misplaced(at + 1), text, *misplaced(at + 1) == '+' ? "+OFFSET" : "%return"));
	if (at)
		to->library = memory_text(at + 1, strlen(at + 1));
	if (!length)
		return fail(wrong, memory_format("'%s' names no place; " FORMS, text));
	if (*text == '=')
		return fail(wrong, memory_format("no name stands before '=' in '%s'; allowed: NAME=PLACE, or PLACE",
			text));
	if (!strncmp(text, usdt, sizeof(usdt) - 1))
		return take_usdt(to, text + sizeof(usdt) - 1, length - sizeof(usdt) + 1, wrong);
	const char *colon = single_colon(text, length);
	return colon ? take_colon(to, text, length, colon, wrong) : take_code(to, text, length, wrong);
}

bool place_read(struct place *to, const char *text, char **wrong)
{
	*to = (struct place){ .text = memory_text(text, strlen(text)) };
	*wrong = NULL;
	if (take(to, wrong))
		return true;
	place_free(to);
	return false;
}

void place_free(struct place *place)
{
	free(place->text);
	free(place->library);
	free(place->symbol);
	free(place->name);
	*place = (struct place){ 0 };
}

/* ---- finding ---- */

static void say_nearest(struct finding *to)
{
	struct nearest nearest = { .written = to->place->symbol };
	const struct image *image = to->image;

	for (size_t i = 0; i < image->functions; i++)
		if (image->function[i].name)
			nearest_look(&nearest, image->function[i].name);
	for (size_t i = 0; i < image->aliases; i++)
		nearest_look(&nearest, image->alias[i].name);
	finding_say(to, memory_format("'%s': no function of %s has this name; %s%s%s`xaudit list %s` shows those that "
				      "there are", to->place->text, tool_base(to->path), nearest.word ? "is it '" : "",
				nearest.word ? nearest.word : "", nearest.word ? "'? " : "", to->path));
	nearest_free(&nearest);
}

static uint64_t size_of(const struct image_function *function)
{
	return function->size ? function->size : function->end - function->address;
}

static void find_symbol(struct finding *to)
{
	const struct place *place = to->place;
	uint32_t *selected;
	size_t count = symbols_find(to->symbols, place->symbol, &selected);

	if (!count && place->library)
		say_nearest(to);
	for (size_t i = 0; i < count; i++) {
		const struct image_function *function = &to->image->function[selected[i]];
		if (place->kind == PLACE_RETURN)
			returns_find(to, function);
		else if (place->offset < size_of(function) || !place->offset)
			finding_add(to, function->address + place->offset, 0, NULL);
		else
			finding_say(to, memory_format("'%s': %s has %" PRIu64 " (0x%" PRIx64 ") bytes in %s; `xaudit "
						      "list %s %s` shows its instructions", place->text, place->symbol,
						size_of(function), size_of(function), tool_base(to->path), to->path,
						place->symbol));
	}
	free(selected);
}

static void find_address(struct finding *to)
{
	/* Without a library: where it lies in memory, which only a program at fixed addresses tells. */
	if (to->place->library || (to->image->fixed && image_section(to->image, to->place->offset)))
		finding_add(to, to->place->offset, 0, NULL);
}

static int by_address(const void *a, const void *b)
{
	const struct place_found *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Each address once; of notes at one address the first counts. */
static size_t sort(struct place_found *found, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(found, count, sizeof(*found), by_address);
	for (size_t i = 0; i < count; i++)
		if (!kept || found[kept - 1].address != found[i].address)
			found[kept++] = found[i];
	return kept;
}

size_t place_find(const struct place *place, const struct image *image, struct symbols *symbols,
	struct debug_info *debug, const char *path, const char *soname, struct place_found **found, char **wrong)
{
	struct finding to = { .place = place, .image = image, .symbols = symbols, .path = path, .soname = soname };
	const struct rules_pattern library = { .function = "*", .library = place->library };

	*found = NULL;
	*wrong = NULL;
	if (!rules_match(&library, "", path, soname))
		return 0;
	switch (place->kind) {
	case PLACE_SYMBOL:
	case PLACE_RETURN:
		find_symbol(&to);
		break;
	case PLACE_ADDRESS:
		find_address(&to);
		break;
	case PLACE_LINE:
		lines_find(&to, debug);
		break;
	case PLACE_USDT:
		usdt_find(&to);
		break;
	}
	*found = to.found;
	*wrong = to.said;
	return sort(to.found, to.count);
}
