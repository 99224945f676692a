/* SPDX-License-Identifier: MIT */
#include "tool/show/values.h"

#include <inttypes.h>
#include <math.h> /* isfinite */
#include <stdlib.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/show/event_text.h"
#include "tool/show/term/frames.h"
#include "tool/show/term/term.h"

/* ---- text ---- */

void values_arguments(FILE *file, const struct xaudit_read_values *entered, const struct xaudit_read_values *ended)
{
	size_t size = xaudit_read_arguments_text(entered, ended, NULL, 0) + 1;
	char *text = memory_zeroed(size, 1);

	xaudit_read_arguments_text(entered, ended, text, size);
	term_text(file, text);
	free(text);
}

void values_result(FILE *file, const struct xaudit_read_values *ended, int how)
{
	size_t size = xaudit_read_result_text(ended, how, NULL, 0) + 1;
	char *text = memory_zeroed(size, 1);

	xaudit_read_result_text(ended, how, text, size);
	fputs(text, file);
	free(text);
}

char *values_text(const struct xaudit_read_call *call)
{
	if (!call->entered && !call->ended)
		return NULL;
	size_t first = xaudit_read_arguments_text(call->entered, call->ended, NULL, 0);
	size_t size = first + xaudit_read_result_text(call->ended, (int)call->how, NULL, 0) + 1;
	char *text = memory_zeroed(size, 1);

	xaudit_read_arguments_text(call->entered, call->ended, text, size);
	xaudit_read_result_text(call->ended, (int)call->how, text + first, size - first);
	return text;
}

static char *text_of(const struct xaudit_read_value *value)
{
	size_t size = xaudit_read_value_text(value, NULL, 0) + 1;
	char *text = memory_zeroed(size, 1);

	xaudit_read_value_text(value, text, size);
	return text;
}

void values_list(FILE *file, const struct xaudit_read_values *values, uint32_t most)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	uint32_t count = xaudit_read_values(values, value, XAUDIT_READ_VALUES);
	const char *between = "";
	char *list;
	size_t size;
	FILE *to = memory_need(open_memstream(&list, &size));

	putc('(', to);
	for (uint32_t i = 0; i < count; i++) {
		/* A backtrace has lines of its own. */
		if (value[i].type == XAUDIT_READ_VALUE_STACK || value[i].state == XAUDIT_READ_VALUE_ABSENT)
			continue;
		if (value[i].type == XAUDIT_READ_VALUE_TEXT && value[i].size > most) {
			value[i].size = most;
			value[i].state = value[i].state ? value[i].state : XAUDIT_READ_VALUE_CUT;
		}
		char *text = text_of(&value[i]);
		fprintf(to, "%s%s%s%s", between, value[i].name, *value[i].name ? "=" : "", text);
		free(text);
		between = ", ";
	}
	putc(')', to);
	if (fclose(to))
		memory_failed();
	term_text(file, list);
	free(list);
}

bool values_have(const struct xaudit_read_values *values, enum xaudit_read_value_role role)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	uint32_t count = xaudit_read_values(values, value, XAUDIT_READ_VALUES), i = 0;

	while (i < count && value[i].role != (int)role)
		i++;
	return i < count;
}

/* Is it meant by the name, or by what it is in the call? */
static bool is_named(const struct xaudit_read_value *value, const char *name)
{
	char place[16];

	switch (value->role) {
	case XAUDIT_READ_VALUE_ARGUMENT:
		snprintf(place, sizeof(place), "arg%" PRIu32, value->place + 1);
		return !strcmp(name, value->name) || !strcmp(name, place);
	case XAUDIT_READ_VALUE_RESULT:
		return !strcmp(name, value->name) || !strcmp(name, "ret");
	case XAUDIT_READ_VALUE_ERROR:
		return !strcmp(name, value->name) || !strcmp(name, "errno");
	default:
		return !strcmp(name, value->name);
	}
}

char *values_one(const struct xaudit_read_values *values, const char *name)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	uint32_t count = xaudit_read_values(values, value, XAUDIT_READ_VALUES);

	for (uint32_t i = 0; i < count; i++)
		if (is_named(&value[i], name) && value[i].state != XAUDIT_READ_VALUE_ABSENT &&
			(value[i].role != XAUDIT_READ_VALUE_ERROR || xaudit_read_values_failed(values)))
			return text_of(&value[i]);
	return NULL;
}

char *values_named(const struct xaudit_read_call *call, const char *name)
{
	char *text = values_one(call->entered, name);

	return text ? text : values_one(call->ended, name);
}

/* ---- JSON ---- */

static const char *word(const char *const *words, size_t count, int number)
{
	return number >= 0 && (size_t)number < count && words[number] ? words[number] : "?";
}
#define WORD(words, number) word(words, sizeof(words) / sizeof(*(words)), number)

static void print_number(FILE *file, const struct xaudit_read_value *value)
{
	switch (value->type) {
	case XAUDIT_READ_VALUE_SIGNED:
	case XAUDIT_READ_VALUE_ERRNO:
		fprintf(file, "%" PRId64, value->integer);
		break;
	case XAUDIT_READ_VALUE_UNSIGNED:
		fprintf(file, "%" PRIu64, value->number);
		break;
	case XAUDIT_READ_VALUE_FLOAT:
	case XAUDIT_READ_VALUE_DOUBLE:
		if (isfinite(value->real))
			fprintf(file, "%.*g", value->type == XAUDIT_READ_VALUE_FLOAT ? 9 : 17, value->real);
		else
			fputs("null", file);
		break;
	default:
		fprintf(file, "\"0x%" PRIx64 "\"", value->number);
	}
}

static void print_value(FILE *file, const struct xaudit_read_value *value)
{
	if (value->state > XAUDIT_READ_VALUE_CUT) {
		fputs("null", file);
	} else if (value->type == XAUDIT_READ_VALUE_BYTES || value->type == XAUDIT_READ_VALUE_STRUCTS) {
		putc('"', file);
		event_base64(file, (const uint8_t *)value->text, value->size);
		putc('"', file);
	} else if (value->type == XAUDIT_READ_VALUE_TEXT) {
		char *text = memory_zeroed(value->size + 1ul, 1);
		memcpy(text, value->text, value->size);
		json_bytes(file, text, value->size);
		free(text);
	} else {
		print_number(file, value);
	}
}

void values_json(FILE *file, const char *key, const struct xaudit_read_values *values)
{
	static const char *const types[] = { NULL, "signed", "unsigned", "hex", "pointer", "float", "double", "text",
		"bytes", "errno", "none", "structs", "stack" };
	static const char *const states[] = { "whole", "cut", "fault", "not read", "null", "damaged", "absent",
		"optimized out" };
	static const char *const roles[] = { "named", "argument", "result", "errno", "request" };
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	uint32_t count = xaudit_read_values(values, value, XAUDIT_READ_VALUES);

	if (!count)
		return;
	const char *comma = "";
	fprintf(file, ",\"%s\":[", key);
	for (uint32_t i = 0; i < count; i++) {
		if (value[i].state == XAUDIT_READ_VALUE_ABSENT)
			continue;
		char *shown = text_of(&value[i]);
		fprintf(file, "%s{\"name\":", comma);
		comma = ",";
		json_string(file, value[i].name);
		fprintf(file, ",\"role\":\"%s\"", WORD(roles, value[i].role));
		if (value[i].role == XAUDIT_READ_VALUE_ARGUMENT)
			fprintf(file, ",\"place\":%" PRIu32, value[i].place);
		fprintf(file, ",\"type\":\"%s\",\"state\":\"%s\",\"value\":", WORD(types, value[i].type),
			WORD(states, value[i].state));
		if (value[i].type == XAUDIT_READ_VALUE_STACK)
			frames_json(file, xaudit_read_stack(values), values);
		else
			print_value(file, &value[i]);
		fputs(",\"shown\":", file);
		json_string(file, shown);
		putc('}', file);
		free(shown);
	}
	putc(']', file);
}
