/* SPDX-License-Identifier: MIT */
#define XAUDIT_NO_HOOK
#include "runtime/event_values.h"

#include <errno.h> /* EINVAL */
#include <stdbool.h>

#include "format/values.h"
#include "runtime/api/xaudit.h"
#include "runtime/calls/values_calls.h"
#include "runtime/handlers/state.h"
#include "runtime/values/evaluate.h"
#include "x86_64/sys.h"

#define SAME(PUBLIC, OURS) _Static_assert((int)XAUDIT_VALUE_##PUBLIC == (int)VALUES_##OURS, "readers have them, too")
SAME(SIGNED, TYPE_SIGNED);
SAME(ERRNO, TYPE_ERRNO);
SAME(NONE, TYPE_NONE);
SAME(STRUCTS, TYPE_STRUCTS);
SAME(BESIDE, MARK_BESIDE);
SAME(WHOLE, WHOLE);
SAME(NULL, NULL);
SAME(NAMED, ROLE_OTHER);
SAME(ERROR, ROLE_ERRNO);
SAME(FD, MARK_FD);
SAME(MORE, MARK_MORE);
_Static_assert(XAUDIT_VALUES == VALUES_MOST, "there is room for all");
_Static_assert(XAUDIT_VALUES_BYTES > VALUES_RECORDED, "and a NUL behind the last text");

/* What values_evaluate() has written, which is taken from its beginning on. */
struct bytes {
	const uint8_t *at;
	size_t left;
};

/* The next so many bytes; NULL: there are fewer. A plan from elsewhere may name more than its code puts. */
static const uint8_t *take(struct bytes *from, size_t size)
{
	const uint8_t *at = from->at;

	if (size > from->left)
		return NULL;
	from->at += size;
	from->left -= size;
	return at;
}

static bool take_number(struct xaudit_value *to, struct bytes *from)
{
	const uint8_t *at = to->size <= 8 ? take(from, to->size) : NULL;
	const unsigned unused = 64 - 8 * (to->size & 15);
	uint64_t real;

	if (!at)
		return false;
	sys_copy(&to->number, at, to->size);
	/* Shifted up, so that the sign comes with it on the way down. */
	if (to->type == XAUDIT_VALUE_SIGNED || to->type == XAUDIT_VALUE_ERRNO)
		to->number = (uint64_t)((int64_t)(to->number << unused) >> unused);
	to->integer = (int64_t)to->number;
	/* Copied, since code for doubles would use vector registers. */
	real = to->type == XAUDIT_VALUE_FLOAT ? values_widen((uint32_t)to->number) : to->number;
	if (to->type == XAUDIT_VALUE_FLOAT || to->type == XAUDIT_VALUE_DOUBLE)
		sys_copy(&to->real, &real, sizeof(to->real));
	return true;
}

static bool take_text(struct xaudit_value *to, struct bytes *from)
{
	const uint8_t *at = take(from, 2);
	const size_t size = at ? at[0] | (size_t)at[1] << 8 : 0;

	at = at ? take(from, size) : NULL;
	if (!at)
		return false;
	if (size)
		to->text = (const char *)at;
	to->size = (uint32_t)size;
	return true;
}

static void take_value(struct xaudit_value *to, const struct trace_value *as, const char *names, uint8_t state,
	struct bytes *from)
{
	sys_fill(to, 0, sizeof(*to));
	to->name = names + as->name;
	to->words = names + as->words;
	to->text = "";
	to->type = as->type;
	to->role = as->role <= VALUES_ROLE_ERRNO ? as->role : VALUES_ROLE_OTHER;
	to->place = as->place;
	to->marks = as->marks;
	to->size = as->size;
	to->state = state;
	if (to->type == XAUDIT_VALUE_NONE) {
		to->state = XAUDIT_VALUE_GONE;
		return;
	}
	if (to->size ? take_number(to, from) : take_text(to, from))
		return;
	from->left = 0; /* nobody knows where the next one begins */
	to->size = 0;
	to->state = XAUDIT_VALUE_FAULT;
}

static bool is_text(const struct xaudit_value *value)
{
	return value->type == XAUDIT_VALUE_TEXT || value->type == XAUDIT_VALUE_BYTES ||
	       value->type == XAUDIT_VALUE_STRUCTS;
}

/* Does the result say that the function has failed? */
static bool has_failed(const struct xaudit_values *values, const struct trace_layout *layout)
{
	for (uint32_t i = 0; layout->has_fails && i < values->count; i++) {
		const struct xaudit_value *value = &values->value[i];
		if (value->role != XAUDIT_VALUE_RESULT)
			continue;
		/* A text has no number: there is none where its address was 0. */
		if (is_text(value))
			return value->state == XAUDIT_VALUE_NULL && !layout->fails;
		const unsigned unused = 64 - 8 * (value->size & 15);
		return value->state == XAUDIT_VALUE_WHOLE && value->size &&
		       !((value->number ^ (uint64_t)layout->fails) << unused);
	}
	return false;
}

/*
 * Finds the values, which lie in to->bytes before they are told apart. Then a NUL can go behind each text: what lay
 * there, of the next value, is known.
 */
static int find(const struct values_asked *asked, struct xaudit_values *to)
{
	const struct trace_layout *layout;
	const size_t size = values_ask(asked, &layout, (uint8_t *)to->bytes);

	if (!size)
		return 0;
	struct bytes from = { (const uint8_t *)to->bytes + 1, size - 1 };
	const uint8_t *states = *to->bytes == VALUES_FLAWED ? take(&from, layout->count) : NULL;
	const char *names = (const char *)&layout->value[layout->count];
	for (uint32_t i = 0; i < layout->count; i++)
		take_value(&to->value[i], &layout->value[i], names, states ? states[i] : VALUES_WHOLE, &from);
	to->count = layout->count;
	for (uint32_t i = 0; i < to->count; i++)
		if (!layout->value[i].size && to->value[i].size)
			to->bytes[to->value[i].text - to->bytes + to->value[i].size] = '\0';
	to->failed = has_failed(to, layout);
	return (int)to->count;
}

int handlers_values(const struct handlers_event *event, struct xaudit_values *to)
{
	if (to->size < sizeof(*to) || !handlers_is_told(event))
		return -EINVAL;
	to->count = to->failed = 0;
	if (event->type != HANDLERS_ENTRY && event->type != HANDLERS_ARGUMENTS && event->type != HANDLERS_EXIT &&
		event->type != HANDLERS_PROBE)
		return 0;
	/* Only events.c tells of these. */
	const struct handlers_told *told = (const struct handlers_told *)event;
	const struct values_asked asked = { .id = event->id,
		.is_end = event->type == HANDLERS_EXIT,
		.is_xray = told->is_xray,
		.is_probe = event->type == HANDLERS_PROBE,
		.registers = event->registers,
		.vectors = event->vectors };
	return find(&asked, to);
}
