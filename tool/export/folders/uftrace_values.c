/* SPDX-License-Identifier: MIT */
#include "tool/export/folders/uftrace_values.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

/* uftrace shows the arguments of a call in 1024 bytes, where a byte may take four. */
#define TEXT_MOST  100
#define TEXTS_MOST 200

struct payload {
	uint8_t *to;
	size_t size;
	size_t texts; /* bytes that texts may still have */
};

static void put(struct payload *payload, const void *from, size_t size)
{
	memcpy(payload->to + payload->size, from, size);
	payload->size += size;
}

static void pad(struct payload *payload, size_t to)
{
	static const uint8_t zeros[8];

	put(payload, zeros, -payload->size & (to - 1));
}

static char letter_of(const struct xaudit_read_value *value)
{
	if (*value->words || value->marks & XAUDIT_READ_VALUE_OCTAL)
		return 's';
	switch (value->type) {
	case XAUDIT_READ_VALUE_SIGNED:
		return 'i';
	case XAUDIT_READ_VALUE_UNSIGNED:
		return 'u';
	case XAUDIT_READ_VALUE_HEX:
		return 'x';
	case XAUDIT_READ_VALUE_POINTER:
		return 'p';
	case XAUDIT_READ_VALUE_FLOAT:
	case XAUDIT_READ_VALUE_DOUBLE:
		return 'f';
	}
	return 's';
}

/* ---- texts ---- */

/* Cuts it between two characters. */
static void put_text(struct payload *payload, const char *text)
{
	size_t most = payload->texts < TEXT_MOST ? payload->texts : TEXT_MOST, size = strlen(text);
	char own[TEXT_MOST + 4];
	bool cut = size > most;

	for (size = cut ? most : size; cut && size && (text[size] & 0xc0) == 0x80;)
		size--;
	memcpy(own, text, size);
	payload->texts -= size;
	if (cut) {
		memcpy(own + size, "...", 3);
		size += 3;
	}
	put(payload, &(uint16_t){ (uint16_t)size }, 2);
	put(payload, own, size);
}

/* uftrace writes the quotes, but leaves most of what would steer a terminal: so that is escaped here. */
static void put_value_text(struct payload *payload, const struct xaudit_read_value *value)
{
	size_t size = xaudit_read_value_text(value, NULL, 0) + 1;
	char *text = memory_zeroed(size, 1), *last;

	xaudit_read_value_text(value, text, size);
	last = *text == '"' ? strrchr(text, '"') : NULL;
	if (last && last > text) {
		memmove(last, last + 1, strlen(last));
		put_text(payload, text + 1);
	} else {
		put_text(payload, text);
	}
	free(text);
}

static void put_any_text(struct payload *payload, const struct xaudit_read_value *value)
{
	if (value->state != XAUDIT_READ_VALUE_NULL) {
		put_value_text(payload, value);
		return;
	}
	/* So uftrace has it. */
	put(payload, &(uint16_t){ 4 }, 2);
	put(payload, &(uint32_t){ UINT32_MAX }, 4);
}

/* ---- values ---- */

static bool fits(char letter, const struct xaudit_read_value *value)
{
	return letter == 's' || (letter == letter_of(value) && value->state == XAUDIT_READ_VALUE_WHOLE);
}

static void put_value(struct payload *payload, char letter, const struct xaudit_read_value *value)
{
	if (letter == 's')
		put_any_text(payload, value);
	else if (letter == 'f')
		put(payload, &value->real, sizeof(value->real));
	else
		put(payload, &value->number, sizeof(value->number));
	pad(payload, 4);
}

/* Callers have no place in uftrace's data. Returns how many are left. */
static uint32_t without_stacks(struct xaudit_read_value *value, uint32_t values)
{
	uint32_t left = 0;

	values = values < XAUDIT_READ_VALUES ? values : XAUDIT_READ_VALUES;
	for (uint32_t i = 0; i < values; i++)
		if (value[i].type != XAUDIT_READ_VALUE_STACK)
			value[left++] = value[i];
	return left;
}

size_t uftrace_arguments(struct uftrace_spec *spec, const struct xaudit_read_call *call, uint8_t *to)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	uint32_t values = without_stacks(value, xaudit_read_values(call->entered, value, XAUDIT_READ_VALUES));
	struct payload payload = { to, 0, TEXTS_MOST };

	values = values < UFTRACE_ARGUMENTS ? values : UFTRACE_ARGUMENTS;
	if (!*spec->argument)
		for (uint32_t i = 0; i < values; i++)
			spec->argument[i] = letter_of(&value[i]);
	if (!values || strlen(spec->argument) != values)
		return 0;
	for (uint32_t i = 0; i < values; i++)
		if (!fits(spec->argument[i], &value[i]))
			return 0;
	for (uint32_t i = 0; i < values; i++)
		put_value(&payload, spec->argument[i], &value[i]);
	pad(&payload, 8);
	return payload.size;
}

/* Several values, such as a result and an errno. */
static void put_result_text(struct payload *payload, const struct xaudit_read_call *call)
{
	size_t size = xaudit_read_result_text(call->ended, (int)call->how, NULL, 0) + 1;
	char *text = memory_zeroed(size, 1);

	xaudit_read_result_text(call->ended, (int)call->how, text, size);
	put_text(payload, strncmp(text, " = ", 3) ? text : text + 3);
	free(text);
	pad(payload, 4);
}

size_t uftrace_result(struct uftrace_spec *spec, const struct xaudit_read_call *call, uint8_t *to)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	uint32_t values = without_stacks(value, xaudit_read_values(call->ended, value, XAUDIT_READ_VALUES));
	struct payload payload = { to, 0, TEXTS_MOST };
	bool one = values == 1 && value->role == XAUDIT_READ_VALUE_RESULT;

	if (values && !spec->result)
		spec->result = one ? letter_of(value) : 's';
	if (!values || (spec->result != 's' && (!one || !fits(spec->result, value))))
		return 0;
	if (one)
		put_value(&payload, spec->result, value);
	else
		put_result_text(&payload, call);
	pad(&payload, 8);
	return payload.size;
}

/* ---- what they look like ---- */

static const char *form_of(char letter)
{
	static const char *const forms[] = { "i64", "u64", "x64", "p", "f64", "s" };

	return forms[strchr("iuxpfs", letter) - "iuxpfs"];
}

void uftrace_spec_lines(FILE *file, const struct uftrace_spec *spec)
{
	if (*spec->argument)
		fputs("A: @", file);
	for (unsigned i = 0; spec->argument[i]; i++)
		fprintf(file, "%s%s%u/%s", i ? "," : "", spec->argument[i] == 'f' ? "fparg" : "arg", i + 1,
			form_of(spec->argument[i]));
	if (*spec->argument)
		putc('\n', file);
	if (spec->result)
		fprintf(file, "R: @retval/%s\n", form_of(spec->result));
}
