/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/api/values_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/text.h"
#include "tool/read/api/values.h"

/* A text that is made, as snprintf() has it. */
struct out {
	char *to;
	size_t room, length;
	const struct read_api_view *view; /* NULL: none */
};

static void add_bytes(struct out *out, const char *from, size_t size)
{
	for (size_t i = 0; i < size; i++, out->length++)
		if (out->length + 1 < out->room)
			out->to[out->length] = from[i];
}

static void add(struct out *out, const char *text)
{
	add_bytes(out, text, strlen(text));
}

static __attribute__((format(printf, 2, 3))) void add_format(struct out *out, const char *format, ...)
{
	char text[128];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	add(out, text);
}

static size_t finish(struct out *out)
{
	if (out->room)
		out->to[out->length < out->room ? out->length : out->room - 1] = '\0';
	return out->length;
}

/* A name out of the trace. */
static void add_name(struct out *out, const char *name)
{
	const char *shown;
	size_t length;

	while (*name) {
		name += text_next(name, &shown, &length);
		add_bytes(out, shown, length);
	}
}

/* ---- texts ---- */

/* One byte that can't be shown as it is; next: the one behind it, or 0. */
static void add_escaped(struct out *out, unsigned char c, unsigned char next)
{
	static const char plain[] = "\n\t\r\f\v\"\\", letters[] = "ntrfv\"\\";
	const char *at = c ? strchr(plain, c) : NULL;

	if (at)
		add_format(out, "\\%c", letters[at - plain]);
	else
		add_format(out, next >= '0' && next <= '9' ? "\\%03o" : "\\%o", c);
}

/* In quotes, as C has it; UTF-8 as it is. */
static void add_quoted(struct out *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		unsigned char next[5] = { 0 };
		memcpy(next, text + i, size - i < 4 ? size - i : 4);
		size_t length = text_utf8(next);
		if (length && !text_is_control(next, length) && *next != '"' && *next != '\\') {
			add_bytes(out, text + i, length);
			i += length;
		} else {
			add_escaped(out, *next, next[1]);
			i++;
		}
	}
}

static void add_text(struct out *out, const struct xaudit_read_value *value)
{
	size_t most = out->view ? out->view->text : SIZE_MAX;
	bool cut = value->size > most;

	add(out, "\"");
	add_quoted(out, value->text, cut ? most : value->size);
	add(out, cut || value->state == XAUDIT_READ_VALUE_CUT ? "\"..." : "\"");
}

/* ---- numbers ---- */

/* A walk over "NUMBER=WORD,NUMBER/MASK=WORD". */
struct words {
	const char *at;
	unsigned count;
	uint64_t number, mask;
	const char *word;
	size_t length;
};

/* Returns false if there are no more. */
static bool next_word(struct words *words)
{
	const char *at = words->at;
	char *end;

	if (!*at || words->count++ == VALUES_WORDS) /* each may be compared with each */
		return false;
	words->number = (uint64_t)strtoll(at, &end, 10);
	if (*at != '-' && words->number == INT64_MAX) /* as large as only numbers without sign are */
		words->number = strtoull(at, &end, 10);
	words->mask = *end == '/' ? strtoull(end + 1, &end, 10) : 0;
	words->word = *end == '=' ? end + 1 : end;
	words->length = strcspn(words->word, ",");
	words->at = words->word + words->length;
	words->at += *words->at == ',';
	return true;
}

/* Has the number all bits of another word, these among them? Then that one tells them. */
static bool is_in_another(const struct xaudit_read_value *value, uint64_t number, uint64_t bits)
{
	struct words other = { .at = value->words };

	while (next_word(&other))
		if (!other.mask && other.number != bits && (other.number & bits) == bits &&
			(number & other.number) == other.number)
			return true;
	return false;
}

static void add_word(struct out *out, const struct words *word)
{
	char name[128];
	size_t length = word->length < sizeof(name) - 1 ? word->length : sizeof(name) - 1;

	memcpy(name, word->word, length);
	name[length] = '\0';
	add_name(out, name);
}

static void add_flags(struct out *out, const struct xaudit_read_value *value)
{
	uint64_t number = value->number & read_api_bits(value->size), rest = number;
	struct words word = { .at = value->words };
	bool any = false;

	while (next_word(&word)) {
		uint64_t bits = word.number & read_api_bits(value->size);
		bool is = word.mask ? (number & word.mask) == bits :
			  bits	    ? (number & bits) == bits && !is_in_another(value, number, bits) : !number;
		if (!is || !word.length)
			continue;
		add(out, any ? "|" : "");
		add_word(out, &word);
		any = true;
		rest &= ~(bits | word.mask);
	}
	if (rest)
		add_format(out, "%s0x%" PRIx64, any ? "|" : "", rest);
	else if (!any)
		add(out, "0");
}

/* The word of a whole number. Returns whether it has one. */
static bool add_enum(struct out *out, const struct xaudit_read_value *value)
{
	struct words word = { .at = value->words };

	while (next_word(&word))
		if (word.length && !((word.number ^ value->number) & read_api_bits(value->size))) {
			add_word(out, &word);
			return true;
		}
	return false;
}

/* The shortest that is read as the same again. */
static void add_real(struct out *out, double real, int digits)
{
	char text[40];

	for (int n = digits == 9 ? 6 : 15; n <= digits; n++) {
		snprintf(text, sizeof(text), "%.*g", n, real);
		double again = strtod(text, NULL);
		if (digits == 9 ? (float)again == (float)real : again == real)
			break;
	}
	add(out, text);
}

static void add_errno(struct out *out, const struct xaudit_read_value *value)
{
	const char *name = value->integer > 0 && value->integer < 4096 ? strerrorname_np((int)value->integer) : NULL;

	if (name)
		add_format(out, "%s (%.80s)", name, strerrordesc_np((int)value->integer));
	else
		add_format(out, "(errno %" PRId64 ")", value->integer);
}

static void add_integer(struct out *out, const struct xaudit_read_value *value)
{
	uint64_t number = value->number & read_api_bits(value->size);

	if (value->marks & XAUDIT_READ_VALUE_OCTAL)
		add_format(out, "%#03" PRIo64, number);
	else if (value->type == XAUDIT_READ_VALUE_SIGNED)
		add_format(out, "%" PRId64, value->integer);
	else if (value->type == XAUDIT_READ_VALUE_UNSIGNED)
		add_format(out, "%" PRIu64, number);
	else if (number)
		add_format(out, "0x%" PRIx64, number);
	else
		add(out, value->type == XAUDIT_READ_VALUE_POINTER ? "NULL" : "0");
}

/* What a descriptor is, in brackets behind its number. */
static void add_descriptor(struct out *out, const struct xaudit_read_value *value)
{
	const struct read_api_view *view = out->view;
	const char *name = view && view->descriptor ? view->descriptor(view->user, value->integer) : NULL;

	if (!name)
		return;
	add(out, "<");
	add_quoted(out, name, strlen(name));
	add(out, ">");
}

/* ---- structures ---- */

#define STRUCTS_WORDS 4096

/* What is to be shown of structures. */
struct structs {
	const struct xaudit_read_value *value;
	const char *members; /* of its words, from the first ; on */
	uint32_t size;
	bool is_array;
};

/* The next member: at *text, which moves behind it. Returns false: there is none. */
static bool next_member(
	const char **text, struct xaudit_read_value *member, unsigned *offset, char name[64], char words[STRUCTS_WORDS])
{
	unsigned type, size, marks;
	int end = 0;

	if (**text != ';')
		return false;
	if (sscanf(*text, ";%63[^,;],%u,%u,%u,%u%n", name, offset, &type, &size, &marks, &end) != 5 ||
		type < XAUDIT_READ_VALUE_SIGNED || type > XAUDIT_READ_VALUE_DOUBLE || !size || size > 8)
		return false;
	const char *from = *text + end + (*(*text + end) == ',');
	size_t length = strcspn(from, ";");
	*text = from + length;
	length = length < STRUCTS_WORDS - 1 ? length : STRUCTS_WORDS - 1;
	memcpy(words, from, length);
	words[length] = '\0';
	*member = (struct xaudit_read_value){ .name = name, .words = words, .type = (int)type, .size = size,
		.marks = marks };
	return true;
}

static void add_value(struct out *out, const struct xaudit_read_value *value);

/* One structure. Returns false, and adds nothing: all that the function has written there is 0. */
static bool add_structure(struct out *out, const struct structs *of, uint32_t at, bool any)
{
	struct out before = *out;
	struct xaudit_read_value member;
	char name[64], words[STRUCTS_WORDS], within[64] = "";
	bool has_out = false, is_out = false, first = true;
	unsigned offset;

	add(out, any ? ", {" : "{");
	for (const char *text = of->members; next_member(&text, &member, &offset, name, words); first = false) {
		if (offset > of->size || member.size > of->size - offset)
			break;
		read_api_number(&member, of->value->text + at + offset);
		has_out |= member.marks & XAUDIT_READ_VALUE_OUT;
		is_out |= member.marks & XAUDIT_READ_VALUE_OUT && member.number;
		char *dot = strchr(name, '.');
		size_t outer = dot ? (size_t)(dot - name) : 0;
		bool goes_on = *within && dot && !strncmp(name, within, outer) && !within[outer];
		if (*within && !goes_on)
			add(out, "}");
		add(out, first ? "" : ", ");
		*within = goes_on ? *within : '\0';
		if (dot && !goes_on) {
			memcpy(within, name, outer);
			within[outer] = '\0';
			add_name(out, within);
			add(out, "={");
		}
		add_name(out, dot ? dot + 1 : name);
		add(out, "=");
		add_value(out, &member);
	}
	add(out, *within ? "}}" : "}");
	if (has_out && !is_out)
		*out = before;
	return !has_out || is_out;
}

static bool find_structs(struct structs *of, const struct xaudit_read_value *value)
{
	char *end;
	unsigned long size = strtoul(value->words, &end, 10);

	*of = (struct structs){ .value = value, .size = (uint32_t)size, .is_array = !strncmp(end, "[]", 2) };
	of->members = end + (of->is_array ? 2 : 0);
	return size && size <= UINT32_MAX && *of->members == ';';
}

/* Returns whether there are any. */
static bool add_structs(struct out *out, const struct xaudit_read_value *value)
{
	struct structs of;
	bool any = false;

	if (!find_structs(&of, value)) {
		add_text(out, value);
		return true;
	}
	add(out, of.is_array ? "[" : "");
	for (uint32_t at = 0; at + of.size <= value->size; at += of.size)
		any |= add_structure(out, &of, at, any);
	if (value->state == XAUDIT_READ_VALUE_CUT)
		add(out, any ? ", ..." : "...");
	add(out, of.is_array ? "]" : "");
	return any;
}

/* What the function has written to structures that were shown as they were before. */
static void add_beside(struct out *out, const struct xaudit_read_value *value)
{
	struct out before = *out;

	if (value->state > XAUDIT_READ_VALUE_CUT)
		return;
	add(out, " (");
	if (add_structs(out, value))
		add(out, ")");
	else
		*out = before;
}

static void add_value(struct out *out, const struct xaudit_read_value *value)
{
	static const char *const states[] = {
		[XAUDIT_READ_VALUE_FAULT] = "(fault)",
		[XAUDIT_READ_VALUE_UNREAD] = "(not read)",
		[XAUDIT_READ_VALUE_NULL] = "NULL",
		[XAUDIT_READ_VALUE_DAMAGED] = "(damaged)",
		[XAUDIT_READ_VALUE_ABSENT] = "",
		[XAUDIT_READ_VALUE_GONE] = "<optimized out>",
	};

	if (value->state > XAUDIT_READ_VALUE_CUT && value->state <= XAUDIT_READ_VALUE_GONE) {
		add(out, states[value->state]);
		return;
	}
	switch (value->type) {
	case XAUDIT_READ_VALUE_TEXT:
	case XAUDIT_READ_VALUE_BYTES:
		add_text(out, value);
		break;
	case XAUDIT_READ_VALUE_STRUCTS:
		add_structs(out, value);
		break;
	case XAUDIT_READ_VALUE_FLOAT:
	case XAUDIT_READ_VALUE_DOUBLE:
		add_real(out, value->real, value->type == XAUDIT_READ_VALUE_FLOAT ? 9 : 17);
		break;
	case XAUDIT_READ_VALUE_ERRNO:
		add_errno(out, value);
		break;
	default:
		if (value->words && *value->words && value->marks & XAUDIT_READ_VALUE_FLAGS)
			add_flags(out, value);
		else if (!value->words || !add_enum(out, value))
			add_integer(out, value);
		if (value->marks & XAUDIT_READ_VALUE_FD)
			add_descriptor(out, value);
	}
}

size_t xaudit_read_value_text(const struct xaudit_read_value *value, char *to, size_t room)
{
	struct out out = { .to = to, .room = room };

	add_value(&out, value);
	return finish(&out);
}

/* ---- calls ---- */

/* Values with a name; errors among them if `errors`. */
static void add_named(struct out *out, const struct xaudit_read_value *value, uint32_t count, bool errors)
{
	for (uint32_t i = 0; i < count; i++) {
		if (value[i].type == XAUDIT_READ_VALUE_STACK)
			continue; /* it has lines of its own */
		if (value[i].role != XAUDIT_READ_VALUE_NAMED && value[i].role != XAUDIT_READ_VALUE_REQUEST &&
			!(errors && value[i].role == XAUDIT_READ_VALUE_ERROR))
			continue;
		add(out, " ");
		add_name(out, *value[i].name				? value[i].name
			      : value[i].role == XAUDIT_READ_VALUE_ERROR	? "errno"
			      : value[i].role == XAUDIT_READ_VALUE_REQUEST ? "request"
									   : "?");
		add(out, "=");
		add_value(out, &value[i]);
	}
}

static bool is_listed(const struct xaudit_read_value *value)
{
	return value->role == XAUDIT_READ_VALUE_ARGUMENT && !(value->marks & XAUDIT_READ_VALUE_BESIDE);
}

/*
 * The arguments of `from` in their order, into a list that has those of `list` first, unless `from` has one of the
 * same place. Returns how many the list has.
 */
static uint32_t list_arguments(const struct xaudit_read_value **list, uint32_t count,
	const struct xaudit_read_value *from, uint32_t values)
{
	uint32_t kept = 0, first;

	for (uint32_t i = 0; i < count; i++) {
		bool written = false;
		for (uint32_t k = 0; k < values; k++)
			written |= is_listed(&from[k]) && from[k].place == list[i]->place;
		if (!written)
			list[kept++] = list[i];
	}
	for (uint32_t i = 0; i < values; i++) {
		if (!is_listed(&from[i]))
			continue;
		for (first = kept; first && list[first - 1]->place > from[i].place; first--)
			list[first] = list[first - 1];
		list[first] = &from[i];
		kept++;
	}
	return kept;
}

/* What an argument points to: values of its place behind it. Returns how many there are. */
static uint32_t add_members(struct out *out, const struct xaudit_read_value *const *list, uint32_t count)
{
	uint32_t n = 0;
	bool any = false;

	for (; n < count && list[n]->place == list[-1]->place; n++) {
		if (list[n]->state == XAUDIT_READ_VALUE_ABSENT)
			continue;
		add(out, any ? ", " : " {");
		add_name(out, list[n]->name);
		add(out, *list[n]->name ? "=" : "");
		add_value(out, list[n]);
		any = true;
	}
	add(out, any ? "}" : "");
	return n;
}

static void add_arguments(struct out *out, const struct xaudit_read_values *entered,
	const struct xaudit_read_values *ended)
{
	struct xaudit_read_value first[VALUES_MOST], last[VALUES_MOST];
	uint32_t firsts = xaudit_read_values(entered, first, VALUES_MOST);
	uint32_t lasts = xaudit_read_values(ended, last, VALUES_MOST);
	const struct xaudit_read_value *list[2 * VALUES_MOST];
	uint32_t count = list_arguments(list, 0, first, firsts), place = 0;

	count = list_arguments(list, count, last, lasts);
	add(out, "(");
	for (uint32_t i = 0; i < count;) {
		const struct xaudit_read_value *value = list[i++];
		if (value->state == XAUDIT_READ_VALUE_ABSENT) {
			place = value->place + 1;
			continue;
		}
		if (value->place > place)
			add(out, place ? ", ..." : "...");
		add(out, value->place ? ", " : "");
		add_value(out, value);
		i += add_members(out, list + i, count - i);
		place = value->place + 1;
		if (value->marks & XAUDIT_READ_VALUE_MORE && i == count)
			add(out, ", ...");
	}
	add(out, ")");
	add_named(out, first, firsts, true);
}

size_t xaudit_read_arguments_text(const struct xaudit_read_values *entered, const struct xaudit_read_values *ended,
	char *to, size_t room)
{
	struct out out = { .to = to, .room = room };

	add_arguments(&out, entered, ended);
	return finish(&out);
}

static void add_result(struct out *out, const struct xaudit_read_values *ended, int how)
{
	struct xaudit_read_value value[VALUES_MOST];
	uint32_t count = xaudit_read_values(ended, value, VALUES_MOST);
	const struct xaudit_read_value *result = read_api_result(value, count);
	bool failed = xaudit_read_values_failed(ended);

	if (how == XAUDIT_READ_JUMPED)
		add(out, " = (tail call)");
	else if (how == XAUDIT_READ_UNWOUND)
		add(out, " = (unwound)");
	else if (how && how != XAUDIT_READ_RETURNED)
		add(out, " = ?");
	else if (result && failed && result->type == XAUDIT_READ_VALUE_POINTER && result->integer == -1)
		add(out, " = -1"); /* what people know as MAP_FAILED is no address */
	else if (result)
		add(out, " = "), add_value(out, result);
	for (uint32_t i = 0; failed && i < count; i++)
		if (value[i].role == XAUDIT_READ_VALUE_ERROR)
			add(out, " "), add_value(out, &value[i]);
	for (uint32_t i = 0; i < count; i++)
		if (value[i].role == XAUDIT_READ_VALUE_ARGUMENT && value[i].marks & XAUDIT_READ_VALUE_BESIDE)
			add_beside(out, &value[i]);
	/* Where the layout does not tell when it counts, whoever asked for it has it by its name. */
	add_named(out, value, count, count && !ended->layout->has_fails);
}

size_t xaudit_read_result_text(const struct xaudit_read_values *ended, int how, char *to, size_t room)
{
	struct out out = { .to = to, .room = room };

	add_result(&out, ended, how);
	return finish(&out);
}

size_t xaudit_read_call_text(const struct xaudit_read_call *call, char *to, size_t room)
{
	struct out out = { .to = to, .room = room };

	add_name(&out, call->function->name);
	add_arguments(&out, call->entered, call->ended);
	add_result(&out, call->ended, (int)call->how);
	return finish(&out);
}

size_t read_api_arguments(const struct xaudit_read_call *call, const struct read_api_view *view, char *to, size_t room)
{
	struct out out = { .to = to, .room = room, .view = view };

	add_arguments(&out, call->entered, call->ended);
	return finish(&out);
}

size_t read_api_outcome(const struct xaudit_read_call *call, const struct read_api_view *view, char *to, size_t room)
{
	struct out out = { .to = to, .room = room, .view = view };

	add_result(&out, call->ended, (int)call->how);
	return finish(&out);
}
