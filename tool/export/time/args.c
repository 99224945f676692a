/* SPDX-License-Identifier: MIT */
#include "tool/export/time/args.h"

#include <inttypes.h>
#include <math.h> /* isfinite */
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/show/event_text.h"
#include "tool/show/probe_text.h"

static void tell(const struct args_to *to, const struct args_one *one)
{
	to->take(to->user, one);
}

static void tell_text(const struct args_to *to, const char *key, const char *text)
{
	tell(to, &(struct args_one){ .key = key, .is = ARGS_TEXT, .text = text, .size = strlen(text) });
}

static void tell_number(const struct args_to *to, const char *key, uint64_t number)
{
	tell(to, &(struct args_one){ .key = key, .is = ARGS_UNSIGNED, .number = number });
}

/* ---- values ---- */

static void tell_shown(const struct args_to *to, const char *key, const struct xaudit_read_value *value)
{
	size_t size = xaudit_read_value_text(value, NULL, 0) + 1;
	char *text = memory_zeroed(size, 1);

	xaudit_read_value_text(value, text, size);
	tell_text(to, key, text);
	free(text);
}

static void tell_bytes(const struct args_to *to, const char *key, const struct xaudit_read_value *value)
{
	struct args_one one = { .key = key, .is = ARGS_TEXT, .size = value->size };
	char *text = memory_zeroed(value->size + 4ul, 1);

	memcpy(text, value->text, value->size);
	if (value->state == XAUDIT_READ_VALUE_CUT) {
		memcpy(text + value->size, "...", 3);
		one.size += 3;
	}
	one.text = text;
	tell(to, &one);
	free(text);
}

/* Numbers that are shown as such. Returns whether it is one. */
static bool is_number(struct args_one *one, const struct xaudit_read_value *value)
{
	if (value->state != XAUDIT_READ_VALUE_WHOLE || *value->words || value->marks & ~XAUDIT_READ_VALUE_OUT)
		return false;
	one->integer = value->integer;
	one->number = value->number;
	one->real = value->real;
	switch (value->type) {
	case XAUDIT_READ_VALUE_SIGNED:
		one->is = ARGS_SIGNED;
		return true;
	case XAUDIT_READ_VALUE_UNSIGNED:
		one->is = ARGS_UNSIGNED;
		return true;
	case XAUDIT_READ_VALUE_POINTER:
		one->is = value->number ? ARGS_POINTER : ARGS_NULL;
		return true;
	case XAUDIT_READ_VALUE_FLOAT:
	case XAUDIT_READ_VALUE_DOUBLE:
		one->is = ARGS_REAL;
		one->digits = value->type == XAUDIT_READ_VALUE_FLOAT ? 9 : 17;
		return isfinite(value->real);
	default:
		return false;
	}
}

static void tell_value(const struct args_to *to, const char *key, const struct xaudit_read_values *values,
	const struct xaudit_read_value *value)
{
	bool has_bytes = value->state == XAUDIT_READ_VALUE_WHOLE || value->state == XAUDIT_READ_VALUE_CUT;
	struct args_one one = { .key = key };

	if (value->state == XAUDIT_READ_VALUE_NULL) {
		one.is = ARGS_NULL;
		tell(to, &one);
	} else if (value->type == XAUDIT_READ_VALUE_STACK) {
		one.is = ARGS_STACK;
		one.stack = xaudit_read_stack(values);
		tell(to, &one);
	} else if (value->type == XAUDIT_READ_VALUE_TEXT && has_bytes) {
		tell_bytes(to, key, value);
	} else if (is_number(&one, value)) {
		tell(to, &one);
	} else {
		tell_shown(to, key, value);
	}
}

/* What a value is called. ended: what the function has written to an argument, which may be told as it was, too. */
static char *key_of(const struct xaudit_read_value *value, bool ended)
{
	const char *after = ended && value->role == XAUDIT_READ_VALUE_ARGUMENT ? " (after)" : "";

	if (*value->name)
		return memory_format("%s%s", value->name, after);
	switch (value->role) {
	case XAUDIT_READ_VALUE_ARGUMENT:
		return memory_format("arg%" PRIu32 "%s", value->place + 1, after);
	case XAUDIT_READ_VALUE_RESULT:
		return memory_format("ret");
	case XAUDIT_READ_VALUE_ERROR:
		return memory_format("errno");
	default:
		return memory_format("value");
	}
}

static void tell_values(const struct args_to *to, const struct xaudit_read_values *values, bool ended)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	uint32_t count = xaudit_read_values(values, value, XAUDIT_READ_VALUES);

	for (uint32_t i = 0; i < count; i++) {
		char *key;

		if (value[i].state == XAUDIT_READ_VALUE_ABSENT || value[i].role == XAUDIT_READ_VALUE_REQUEST ||
			(value[i].role == XAUDIT_READ_VALUE_ERROR && !xaudit_read_values_failed(values)))
			continue;
		key = key_of(&value[i], ended);
		tell_value(to, key, values, &value[i]);
		free(key);
	}
}

/* ---- calls ---- */

static const char *how_word(const struct xaudit_read_call *call)
{
	switch (call->how) {
	case XAUDIT_READ_JUMPED:
		return "jumped to another function";
	case XAUDIT_READ_UNWOUND:
		return "unwound";
	case XAUDIT_READ_CUT:
		return "with a call around it";
	case XAUDIT_READ_NO_END:
		return "not known";
	case XAUDIT_READ_OFF:
		return "not known: recording was switched off";
	case XAUDIT_READ_POINT:
		return "not recorded";
	default:
		return NULL;
	}
}

bool args_request_is_new(const struct export_call *is)
{
	const struct xaudit_read_call *call = is->call, *parent = call->parent;

	return call->request && (!is->depth || !parent || !parent->request || strcmp(call->request, parent->request));
}

void args_call(const struct export_call *is, bool begin, bool end, const struct args_to *to)
{
	const struct xaudit_read_call *call = is->call;

	if (begin && args_request_is_new(is))
		tell_text(to, "request", call->request);
	if (begin && call->entered)
		tell_values(to, call->entered, false);
	if (end && call->ended)
		tell_values(to, call->ended, true);
	if (end && how_word(call))
		tell_text(to, "end", how_word(call));
}

void args_probe(const struct xaudit_read_item *item, const struct args_to *to)
{
	char *place = probe_place_text(item->probe);

	tell_text(to, "at", place);
	free(place);
	if (item->values)
		tell_values(to, item->values, false);
}

/* ---- custom events ---- */

static void tell_field(void *user, const struct event_format_field *field)
{
	struct args_one one = { .key = field->name, .text = field->text, .size = field->size,
		.integer = field->integer, .number = field->number, .real = field->real, .digits = field->digits };

	one.is = field->is == EVENT_FORMAT_SIGNED     ? ARGS_SIGNED
		 : field->is == EVENT_FORMAT_UNSIGNED ? ARGS_UNSIGNED
		 : field->is == EVENT_FORMAT_REAL     ? ARGS_REAL
						      : ARGS_TEXT;
	tell(user, &one);
}

/* Of these types, the data is a text for people, whatever bytes it has. */
static bool is_text(const struct xaudit_read_item *item, const char *data)
{
	return (item->type && (!strcmp(item->type, "mark") || !strcmp(item->type, "request"))) ||
		(item->data_size && event_is_text((const uint8_t *)data, item->data_size));
}

void args_custom(const struct export *export, const struct xaudit_read_item *item, const struct args_to *to)
{
	const struct event_format *format = event_format_find(&export->events, item->type, item->type_number);
	/* What decodes it looks for a zero behind it. */
	char *data = memory_zeroed(item->data_size + 1ul, 1);
	struct args_to *fields = (struct args_to *)to;

	if (item->data_size)
		memcpy(data, item->data, item->data_size);
	if (format) {
		size_t left = event_format_each(format, (const uint8_t *)data, item->data_size, tell_field, fields);

		if (left == EVENT_FORMAT_SHORT)
			tell_text(to, "data", "(too short)");
		else if (left)
			tell_number(to, "more bytes", left);
	} else if (is_text(item, data)) {
		tell_text(to, "text", data);
	} else if (item->data_size) {
		char *value = event_value((const uint8_t *)data, item->data_size);

		tell_text(to, "data", value);
		free(value);
	}
	free(data);
}
