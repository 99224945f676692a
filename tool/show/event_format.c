/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/event_format.h"

#include <inttypes.h>
#include <math.h> /* isfinite */
#include <stdlib.h>
#include <string.h>

#include "format/trace.h"
#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/options.h"
#include "tool/base/tool.h"
#include "tool/show/event_text.h"

#define SPACES	 " \t\n"
#define TYPES	 "u8 to u64, i8 to i64, x8 to x64, f32, f64, string and bytes N"

struct field {
	char kind;     /* u i x f s b */
	unsigned size; /* bytes; of a string 0 */
	char *name;
};

struct event_format {
	char *type;
	struct field *field;
	unsigned fields;
};

/* ---- what was asked for ---- */

static bool take_type(struct field *field, const char *word)
{
	field->kind = *word;
	field->size = 0;
	if (!strcmp(word, "string") || !strcmp(word, "bytes"))
		return true;
	if (!*word || !strchr("uixf", *word))
		return false;
	int choice = options_index("8, 16, 32, 64", word + 1);
	field->size = choice < 0 ? 0 : 1u << choice;
	return choice >= (*word == 'f' ? 2 : 0);
}

/* "u32 id", "bytes 16 key". Returns what is wrong with it. */
static char *take_field(struct event_format *format, char *text)
{
	char *save, *type = strtok_r(text, SPACES, &save), *name;
	struct field field;

	if (!type)
		return memory_format("a field is missing");
	if (!take_type(&field, type))
		return memory_format("there is no type '%s' of fields, but " TYPES, type);
	name = strtok_r(NULL, SPACES, &save);
	if (field.kind == 'b') {
		uint32_t size = 0;
		if (!name || !options_digits(name, TRACE_CUSTOM_MAX, &size))
			return memory_format("bytes wants a number from 1 to %d before the name", TRACE_CUSTOM_MAX);
		field.size = size;
		name = strtok_r(NULL, SPACES, &save);
	}
	if (!name)
		return memory_format("a field of type %s has no name", type);
	if (strtok_r(NULL, SPACES, &save))
		return memory_format("a comma is missing behind '%s %s'", type, name);
	for (unsigned i = 0; i < format->fields; i++)
		if (!strcmp(format->field[i].name, name))
			return memory_format("two fields have the name '%s'", name);
	field.name = memory_text(name, strlen(name));
	format->field = memory_resize(format->field, format->fields + 1, sizeof(*format->field));
	format->field[format->fields++] = field;
	return NULL;
}

static void free_format(struct event_format *format)
{
	for (unsigned i = 0; i < format->fields; i++)
		free(format->field[i].name);
	free(format->field);
	free(format->type);
}

char *event_format_add(struct event_formats *formats, const char *text)
{
	const char *equals = strchr(text, '=');
	struct event_format format = { 0 };

	if (!equals || equals == text)
		return memory_format("it is TYPE=FORMAT, such as request='u32 id, string name'");
	char *copy = memory_text(equals + 1, strlen(equals + 1)), *rest = copy, *field, *wrong = NULL;
	format.type = memory_text(text, (size_t)(equals - text));
	while (!wrong && (field = strsep(&rest, ",")))
		wrong = take_field(&format, field);
	free(copy);
	if (wrong) {
		free_format(&format);
		return wrong;
	}
	formats->format = memory_resize(formats->format, formats->count + 1, sizeof(*formats->format));
	formats->format[formats->count++] = format;
	return NULL;
}

static bool is_number(const char *text, uint32_t number)
{
	char own[16];

	snprintf(own, sizeof(own), "%" PRIu32, number);
	return !strcmp(text, own);
}

const struct event_format *event_format_find(const struct event_formats *formats, const char *name, uint32_t number)
{
	for (unsigned i = formats->count; i-- > 0;) {
		const struct event_format *format = &formats->format[i];
		if ((name && !strcmp(format->type, name)) || is_number(format->type, number))
			return format;
	}
	return NULL;
}

void event_format_free(struct event_formats *formats)
{
	for (unsigned i = 0; i < formats->count; i++)
		free_format(&formats->format[i]);
	free(formats->format);
	*formats = (struct event_formats){ 0 };
}

/* ---- decoding ---- */

/* Bytes that the field takes; more than are left: the field is not whole. */
static size_t field_size(const struct field *field, const uint8_t *data, size_t left)
{
	return field->kind == 's' ? strnlen((const char *)data, left) : field->size;
}

static uint64_t bits_of(const struct field *field, const uint8_t *data)
{
	uint64_t bits = 0;

	memcpy(&bits, data, field->size);
	return bits;
}

/* Shifted up, so that the sign comes with it on the way down. */
static int64_t integer_of(const struct field *field, const uint8_t *data)
{
	unsigned unused = 64 - 8 * field->size;

	return (int64_t)(bits_of(field, data) << unused) >> unused;
}

static double real_of(const struct field *field, const uint8_t *data)
{
	double value = 0;
	float single;

	memcpy(&value, data, field->size == 8 ? 8 : 0);
	if (field->size == 4) {
		memcpy(&single, data, 4);
		value = (double)single;
	}
	return value;
}

static void print_number(FILE *file, const struct field *field, const uint8_t *data, bool json)
{
	const char *quote = json ? "\"" : "";
	double value;

	switch (field->kind) {
	case 'u':
		fprintf(file, "%" PRIu64, bits_of(field, data));
		return;
	case 'i':
		fprintf(file, "%" PRId64, integer_of(field, data));
		return;
	case 'x':
		fprintf(file, "%s0x%0*" PRIx64 "%s", quote, (int)field->size * 2, bits_of(field, data), quote);
		return;
	}
	value = real_of(field, data);
	if (json && !isfinite(value))
		fputs("null", file);
	else
		fprintf(file, "%.*g", field->size == 8 ? 17 : 9, value);
}

static void print_value(FILE *file, const struct field *field, const uint8_t *data, size_t size, bool json)
{
	char text[TRACE_CUSTOM_MAX + 1];

	switch (field->kind) {
	case 's':
		memcpy(text, data, size);
		text[size] = '\0';
		if (json)
			json_string(file, text);
		else
			event_text(file, (const uint8_t *)text, size, SIZE_MAX);
		break;
	case 'b':
		fputs(json ? "\"" : "", file);
		for (size_t i = 0; i < size; i++)
			fprintf(file, "%02x", data[i]);
		fputs(json ? "\"" : "", file);
		break;
	default:
		print_number(file, field, data, json);
	}
}

bool event_format_has(const struct event_format *format, const char *field)
{
	for (unsigned i = 0; i < format->fields; i++)
		if (!strcmp(format->field[i].name, field))
			return true;
	return false;
}

char *event_format_value(const struct event_format *format, const char *name, const uint8_t *data, size_t size)
{
	size_t at = 0, length;

	for (unsigned i = 0; i < format->fields; i++) {
		const struct field *field = &format->field[i];
		size_t needs = field_size(field, data + at, size - at);

		if (needs > size - at)
			return NULL;
		if (!strcmp(field->name, name)) {
			char *text;
			if (field->kind == 's')
				return memory_text((const char *)data + at, needs);
			FILE *file = memory_need(open_memstream(&text, &length));
			print_value(file, field, data + at, needs, false);
			fclose(file);
			return text;
		}
		at += needs;
		if (field->kind == 's' && at < size)
			at++; /* its NUL */
	}
	return NULL;
}

static void tell_field(const struct field *field, const uint8_t *data, size_t size,
	void (*take)(void *user, const struct event_format_field *field), void *user)
{
	struct event_format_field told = { .name = field->name, .digits = field->size == 8 ? 17 : 9 };
	char *text;
	FILE *file;

	if (field->kind == 'u') {
		told.is = EVENT_FORMAT_UNSIGNED;
		told.number = bits_of(field, data);
	} else if (field->kind == 'i') {
		told.is = EVENT_FORMAT_SIGNED;
		told.integer = integer_of(field, data);
	} else if (field->kind == 'f' && isfinite(real_of(field, data))) {
		told.is = EVENT_FORMAT_REAL;
		told.real = real_of(field, data);
	}
	if (told.is != EVENT_FORMAT_TEXT) {
		take(user, &told);
		return;
	}
	file = memory_need(open_memstream(&text, &told.size));
	if (field->kind == 's')
		fwrite(data, 1, size, file);
	else
		print_value(file, field, data, size, false);
	if (fclose(file))
		memory_failed();
	told.text = text;
	take(user, &told);
	free(text);
}

size_t event_format_each(const struct event_format *format, const uint8_t *data, size_t size,
	void (*take)(void *user, const struct event_format_field *field), void *user)
{
	size_t at = 0;

	for (unsigned i = 0; i < format->fields; i++) {
		size_t needs = field_size(&format->field[i], data + at, size - at);

		if (needs > size - at)
			return EVENT_FORMAT_SHORT;
		tell_field(&format->field[i], data + at, needs, take, user);
		at += needs;
		at += format->field[i].kind == 's' && at < size; /* its NUL */
	}
	return size - at;
}

/* Writes the fields that are whole. Returns how many bytes they take; *whole: whether all are. */
static size_t print_fields(
	FILE *file, const struct event_format *format, const uint8_t *data, size_t size, bool json, bool *whole)
{
	size_t at = 0;

	*whole = true;
	for (unsigned i = 0; i < format->fields; i++) {
		const struct field *field = &format->field[i];
		size_t needs = field_size(field, data + at, size - at);

		if (needs > size - at) {
			*whole = false;
			break;
		}
		fputs(!i ? "" : json ? "," : " ", file);
		if (json) {
			json_string(file, field->name);
			putc(':', file);
		} else {
			tool_text(file, field->name);
			putc('=', file);
		}
		print_value(file, field, data + at, needs, json);
		at += needs;
		if (field->kind == 's' && at < size)
			at++; /* its NUL */
	}
	return at;
}

void event_format_text(FILE *file, const struct event_format *format, const uint8_t *data, size_t size)
{
	bool whole;
	size_t at = print_fields(file, format, data, size, false, &whole);

	if (!whole)
		fprintf(file, "%s(the data is too short)", at ? " " : "");
	else if (at < size)
		fprintf(file, " (and %zu bytes more)", size - at);
}

void event_format_json(FILE *file, const struct event_format *format, const uint8_t *data, size_t size)
{
	bool whole;

	fputs("\"fields\":{", file);
	size_t at = print_fields(file, format, data, size, true, &whole);
	putc('}', file);
	if (!whole)
		fputs(",\"too_short\":true", file);
	else if (at < size)
		fprintf(file, ",\"more_bytes\":%zu", size - at);
}

bool event_format_take(const struct options_given *given)
{
	struct event_formats *formats = (void *)((char *)given->context + given->row->at);
	char *wrong = event_format_add(formats, given->value);

	if (wrong)
		options_wrong(given, wrong);
	free(wrong);
	return !wrong;
}
