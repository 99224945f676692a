/* SPDX-License-Identifier: MIT */
#include "tool/read/api/values.h"

#include <stdlib.h>
#include <string.h>

/* What is public has the numbers of the format. */
#define SAME(public, format) _Static_assert((int)XAUDIT_READ_VALUE_##public == (int)VALUES_##format, "the same")
SAME(SIGNED, TYPE_SIGNED);
SAME(UNSIGNED, TYPE_UNSIGNED);
SAME(HEX, TYPE_HEX);
SAME(POINTER, TYPE_POINTER);
SAME(FLOAT, TYPE_FLOAT);
SAME(DOUBLE, TYPE_DOUBLE);
SAME(TEXT, TYPE_TEXT);
SAME(BYTES, TYPE_BYTES);
SAME(ERRNO, TYPE_ERRNO);
SAME(NONE, TYPE_NONE);
SAME(STRUCTS, TYPE_STRUCTS);
SAME(STACK, TYPE_STACK);
SAME(CUT, CUT);
SAME(FAULT, FAULT);
SAME(UNREAD, UNREAD);
SAME(NULL, NULL);
SAME(DAMAGED, STATES);
SAME(NAMED, ROLE_OTHER);
SAME(ARGUMENT, ROLE_ARGUMENT);
SAME(RESULT, ROLE_RESULT);
SAME(ERROR, ROLE_ERRNO);
SAME(REQUEST, ROLE_REQUEST);
SAME(FD, MARK_FD);
SAME(OCTAL, MARK_OCTAL);
SAME(FLAGS, MARK_FLAGS);
SAME(OUT, MARK_OUT);
SAME(MORE, MARK_MORE);
SAME(BESIDE, MARK_BESIDE);
_Static_assert(XAUDIT_READ_VALUES == VALUES_MOST, "the same");

const struct xaudit_read_values *read_api_keep_values(
	struct read_damage *damage, struct read_api_values **kept, const struct xaudit_read_values *values)
{
	uint32_t chain = values->chain.words * (uint32_t)sizeof(*values->chain.word), size = chain + values->size;

	if (!values->layout)
		return NULL;
	if (!*kept || (*kept)->room < size) {
		uint32_t room = size < 64 ? 64 : size;
		struct read_api_values *more = read_memory_zeroed(damage, sizeof(*more) + room, 1);
		if (!more)
			return NULL;
		free(*kept);
		*kept = more;
		more->room = room;
	}
	(*kept)->public = *values;
	(*kept)->public.bytes = (*kept)->bytes + chain;
	(*kept)->public.chain.word = (const void *)(*kept)->bytes;
	if (chain)
		memcpy((*kept)->bytes, values->chain.word, chain);
	if (values->size)
		memcpy((*kept)->bytes + chain, values->bytes, values->size);
	return &(*kept)->public;
}

struct xaudit_read_values *xaudit_read_values_copy(const struct xaudit_read_values *values)
{
	size_t chain = values->chain.words * sizeof(*values->chain.word);
	struct read_api_values *copy = calloc(1, sizeof(*copy) + chain + values->size);

	if (!copy)
		return NULL;
	copy->public = *values;
	copy->public.bytes = copy->bytes + chain;
	copy->public.chain.word = (const void *)copy->bytes;
	if (chain)
		memcpy(copy->bytes, values->chain.word, chain);
	if (values->size)
		memcpy(copy->bytes + chain, values->bytes, values->size);
	return &copy->public;
}

void xaudit_read_values_free(struct xaudit_read_values *copy)
{
	free(copy); /* `public` comes first */
}

void read_api_number(struct xaudit_read_value *to, const void *bytes)
{
	uint32_t unused = 64 - 8 * to->size;
	float single;

	memcpy(&to->number, bytes, to->size);
	memcpy(&single, &to->number, sizeof(single));
	to->integer = (int64_t)to->number;
	if (to->type == XAUDIT_READ_VALUE_SIGNED) /* shifted up, so that the sign comes with it on the way down */
		to->integer = (int64_t)(to->number << unused) >> unused;
	if (to->type == XAUDIT_READ_VALUE_SIGNED || to->type == XAUDIT_READ_VALUE_ERRNO)
		to->number = (uint64_t)to->integer;
	if (to->type == XAUDIT_READ_VALUE_FLOAT)
		to->real = (double)single;
	if (to->type == XAUDIT_READ_VALUE_DOUBLE)
		memcpy(&to->real, &to->number, sizeof(to->real));
}

/* A number of the bytes at *at. Returns whether they are whole; moves *at behind them. */
static bool take_number(const struct xaudit_read_values *values, uint32_t *at, struct xaudit_read_value *to)
{
	if (values->size - *at < to->size)
		return false;
	read_api_number(to, values->bytes + *at);
	*at += to->size;
	return true;
}

/* A text, or bytes. Of one that is not whole, what is there. */
static bool take_text(const struct xaudit_read_values *values, uint32_t *at, struct xaudit_read_value *to)
{
	uint16_t size;

	if (values->size - *at < sizeof(size))
		return false;
	memcpy(&size, values->bytes + *at, sizeof(size));
	*at += sizeof(size);
	to->text = (const char *)values->bytes + *at;
	to->size = size < values->size - *at ? size : values->size - *at;
	*at += to->size;
	return to->size == size;
}

/* Is an argument passed, by its `when`? Unless the argument that this is about is not known, too. */
static bool is_passed(const struct read_layout *layout, const struct xaudit_read_value *value, const char *when)
{
	char *at;
	bool is_not = *when == '!';
	uint64_t place = strtoull(when + is_not, &at, 10);

	for (uint32_t i = 0; i < layout->count; i++) {
		if (value[i].role != XAUDIT_READ_VALUE_ARGUMENT || value[i].place != place || !value[i].size ||
			*layout->value[i].when)
			continue;
		while (*at == ',' && value[i].state == XAUDIT_READ_VALUE_WHOLE) {
			uint64_t number = strtoull(at + 1, &at, 10), mask = *at == '/' ? strtoull(at + 1, &at, 10) : 0;
			if ((value[i].number & mask) == number)
				return !is_not;
		}
		return is_not || value[i].state != XAUDIT_READ_VALUE_WHOLE;
	}
	return true;
}

static void find_absent(const struct read_layout *layout, struct xaudit_read_value *value)
{
	for (uint32_t i = 0; i < layout->count; i++)
		if (*layout->value[i].when && !is_passed(layout, value, layout->value[i].when))
			value[i].state = XAUDIT_READ_VALUE_ABSENT;
}

/* Moves *at behind the value. Returns whether it is whole. */
static bool take_value(const struct xaudit_read_values *values, uint32_t *at, struct xaudit_read_value *to)
{
	if (to->type != XAUDIT_READ_VALUE_NONE)
		return to->size ? take_number(values, at, to) : take_text(values, at, to);
	to->state = XAUDIT_READ_VALUE_GONE;
	return true;
}

static void take_values(const struct xaudit_read_values *values, struct xaudit_read_value *to)
{
	const struct read_layout *layout = values->layout;
	uint32_t at = 0;
	bool whole = true;

	if (values->flawed)
		at = layout->states < values->size ? layout->states : values->size;
	for (uint32_t i = 0; i < layout->count; i++) {
		const struct read_layout_value *from = &layout->value[i];
		uint8_t state = !values->flawed ? VALUES_WHOLE : i < at ? values->bytes[i] : VALUES_STATES;
		to[i] = (struct xaudit_read_value){
			.name = from->name,
			.words = from->words,
			.type = from->type,
			.state = state < VALUES_STATES ? state : XAUDIT_READ_VALUE_DAMAGED,
			.role = from->role <= VALUES_ROLE_REQUEST ? from->role : VALUES_ROLE_OTHER,
			.place = from->place,
			.marks = from->marks,
			.size = from->size,
			.text = "",
		};
		/* Nobody knows where the values behind one that is not whole begin. */
		whole = whole && take_value(values, &at, &to[i]);
		if (!whole)
			to[i].state = XAUDIT_READ_VALUE_DAMAGED;
	}
	for (uint32_t i = 0; layout->has_stack && i < layout->count; i++)
		if (to[i].type == XAUDIT_READ_VALUE_STACK && to[i].number && !values->chain.words)
			to[i].state = XAUDIT_READ_VALUE_DAMAGED;
	find_absent(layout, to);
}

uint32_t xaudit_read_values(const struct xaudit_read_values *values, struct xaudit_read_value *to, uint32_t room)
{
	const struct read_layout *layout = values ? values->layout : NULL;
	struct xaudit_read_value all[VALUES_MOST];

	if (!layout)
		return 0;
	if (layout->count <= room) {
		take_values(values, to);
		return layout->count;
	}
	take_values(values, all);
	if (room)
		memcpy(to, all, room * sizeof(*to));
	return layout->count;
}

const struct xaudit_read_value *read_api_result(const struct xaudit_read_value *value, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (value[i].role == XAUDIT_READ_VALUE_RESULT)
			return &value[i];
	return NULL;
}

int xaudit_read_values_failed(const struct xaudit_read_values *ended)
{
	struct xaudit_read_value value[VALUES_MOST];
	const struct xaudit_read_value *result = read_api_result(value, xaudit_read_values(ended, value, VALUES_MOST));

	if (!result || !ended->layout->has_fails)
		return 0;
	/* A text has no number: there is none where its address was 0. */
	if (result->type == XAUDIT_READ_VALUE_TEXT || result->type == XAUDIT_READ_VALUE_BYTES)
		return result->state == XAUDIT_READ_VALUE_NULL && !ended->layout->fails;
	return result->state == XAUDIT_READ_VALUE_WHOLE &&
	       !((result->number ^ (uint64_t)ended->layout->fails) & read_api_bits(result->size));
}
