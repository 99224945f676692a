/* SPDX-License-Identifier: MIT */
#include "tool/export/chrome_args.h"

#include <inttypes.h>
#include <math.h> /* isfinite */
#include <stdlib.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/export/texts.h"
#include "tool/show/event_text.h"
#include "tool/show/term/frames.h"

#define EXACT (1ll << 53) /* larger integers are not all doubles */

struct args {
	FILE *to;
	bool some; /* the object is begun */
};

static void put_key(struct args *args, const char *key)
{
	fputs(args->some ? "," : ",\"args\":{", args->to);
	args->some = true;
	json_string(args->to, key);
	putc_unlocked(':', args->to);
}

static void put_end(const struct args *args)
{
	if (args->some)
		putc_unlocked('}', args->to);
}

/* ---- values ---- */

static void put_shown(FILE *to, const struct xaudit_read_value *value)
{
	size_t size = xaudit_read_value_text(value, NULL, 0) + 1;
	char *text = memory_zeroed(size, 1);

	xaudit_read_value_text(value, text, size);
	json_string(to, text);
	free(text);
}

static void put_text(FILE *to, const struct xaudit_read_value *value)
{
	char *text = memory_zeroed(value->size + 4ul, 1);

	memcpy(text, value->text, value->size);
	if (value->state == XAUDIT_READ_VALUE_CUT)
		memcpy(text + value->size, "...", 3);
	json_bytes(to, text, value->size + (value->state == XAUDIT_READ_VALUE_CUT ? 3 : 0));
	free(text);
}

static void put_stack(FILE *to, const struct xaudit_read_stack *stack)
{
	putc('[', to);
	for (uint32_t i = 0; stack && i < stack->frames; i++) {
		char *name = frames_name(stack->frame[i]);

		fputs(i ? "," : "", to);
		json_string(to, name);
		free(name);
	}
	putc(']', to);
}

static void put_value(FILE *to, const struct xaudit_read_value *value)
{
	bool whole = value->state == XAUDIT_READ_VALUE_WHOLE, named = *value->words || value->marks;

	if (value->state == XAUDIT_READ_VALUE_NULL)
		fputs("null", to);
	else if (value->type == XAUDIT_READ_VALUE_TEXT && (whole || value->state == XAUDIT_READ_VALUE_CUT))
		put_text(to, value);
	else if (!whole || named)
		put_shown(to, value);
	else if (value->type == XAUDIT_READ_VALUE_SIGNED && value->integer <= EXACT && value->integer >= -EXACT)
		fprintf(to, "%" PRId64, value->integer);
	else if (value->type == XAUDIT_READ_VALUE_UNSIGNED && value->number <= EXACT)
		fprintf(to, "%" PRIu64, value->number);
	else if ((value->type == XAUDIT_READ_VALUE_FLOAT || value->type == XAUDIT_READ_VALUE_DOUBLE) &&
		isfinite(value->real))
		fprintf(to, "%.*g", value->type == XAUDIT_READ_VALUE_FLOAT ? 9 : 17, value->real);
	else
		put_shown(to, value);
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

static void put_values(struct args *args, const struct xaudit_read_values *values, bool ended)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	uint32_t count = xaudit_read_values(values, value, XAUDIT_READ_VALUES);

	for (uint32_t i = 0; i < count; i++) {
		char *key;

		if (value[i].state == XAUDIT_READ_VALUE_ABSENT || value[i].role == XAUDIT_READ_VALUE_REQUEST ||
			(value[i].role == XAUDIT_READ_VALUE_ERROR && !xaudit_read_values_failed(values)))
			continue;
		key = key_of(&value[i], ended);
		put_key(args, key);
		free(key);
		if (value[i].type == XAUDIT_READ_VALUE_STACK)
			put_stack(args->to, xaudit_read_stack(values));
		else
			put_value(args->to, &value[i]);
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

/* Calls within one of the same request don't repeat it. */
static bool is_request_new(const struct export_call *is)
{
	const struct xaudit_read_call *call = is->call, *parent = call->parent;

	return call->request && (!is->depth || !parent || !parent->request || strcmp(call->request, parent->request));
}

void chrome_args_call(struct export *export, const struct export_call *is, bool begin, bool end)
{
	const struct xaudit_read_call *call = is->call;
	struct args args = { export->out.file, false };

	if (begin && is_request_new(is)) {
		put_key(&args, "request");
		json_string(args.to, call->request);
	}
	if (begin && call->entered)
		put_values(&args, call->entered, false);
	if (end && call->ended)
		put_values(&args, call->ended, true);
	if (end && how_word(call)) {
		put_key(&args, "end");
		json_string(args.to, how_word(call));
	}
	if (end && !begin && is->known && call->cpu != XAUDIT_READ_UNKNOWN) {
		char us[TEXTS_DIGITS];

		put_key(&args, "on_cpu_us");
		fwrite(us, 1, (size_t)(texts_us(us, call->cpu) - us), args.to);
	}
	put_end(&args);
}

/* ---- custom events ---- */

/* Of these types, the data is a text for people, whatever bytes it has. */
static bool is_text(const struct xaudit_read_item *item, const char *data)
{
	return (item->type && (!strcmp(item->type, "mark") || !strcmp(item->type, "request"))) ||
		(item->data_size && event_is_text((const uint8_t *)data, item->data_size));
}

void chrome_args_custom(struct export *export, const struct xaudit_read_item *item)
{
	const struct event_format *format = event_format_find(&export->events, item->type, item->type_number);
	FILE *to = export->out.file;

	fprintf(to, ",\"args\":{\"bytes\":%" PRIu32, item->data_size);
	/* What decodes it looks for a zero behind it. */
	char *data = memory_zeroed(item->data_size + 1ul, 1);
	if (item->data_size)
		memcpy(data, item->data, item->data_size);
	if (format) {
		putc(',', to);
		event_format_json(to, format, (const uint8_t *)data, item->data_size);
	} else if (is_text(item, data)) {
		fputs(",\"text\":", to);
		json_string(to, data);
	} else if (item->data_size) {
		char *value = event_value((const uint8_t *)data, item->data_size);

		fputs(",\"data\":", to);
		json_string(to, value);
		free(value);
	}
	free(data);
	putc('}', to);
}
