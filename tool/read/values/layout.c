/* SPDX-License-Identifier: MIT */
#include "tool/read/values/layout.h"

#include <string.h>

/* Has a value of that type this size? Of a type that is not known nobody knows where the next value begins. */
static bool is_possible(uint8_t type, uint8_t size)
{
	switch (type) {
	case VALUES_TYPE_SIGNED:
	case VALUES_TYPE_UNSIGNED:
	case VALUES_TYPE_HEX:
	case VALUES_TYPE_POINTER:
		return size == 1 || size == 2 || size == 4 || size == 8;
	case VALUES_TYPE_FLOAT:
	case VALUES_TYPE_ERRNO:
		return size == 4;
	case VALUES_TYPE_DOUBLE:
	case VALUES_TYPE_STACK:
		return size == 8;
	case VALUES_TYPE_TEXT:
	case VALUES_TYPE_BYTES:
	case VALUES_TYPE_NONE:
	case VALUES_TYPE_STRUCTS:
		return size == 0;
	}
	return false;
}

/* The high half of the words of plain events like those of the layout; 0: it is of no event. */
static uint32_t plain_event(uint32_t word)
{
	uint32_t type = word >> TRACE_ID_BITS;

	if (type == TRACE_ENTRY_KEPT)
		return TRACE_WORD(TRACE_ENTRY, word & TRACE_ID_MASK);
	return (type >= TRACE_ENTRY && type <= TRACE_POINT) || type == TRACE_PROBE ? word : 0;
}

struct read_layout *read_layout(struct read_damage *damage, const struct trace_record *record, bool *good)
{
	const struct trace_layout *from = (const void *)record;
	uint64_t room = record->size - sizeof(*from), values = (uint64_t)from->count * sizeof(*from->value);
	struct read_layout *layout;

	*good = false;
	if (record->size < sizeof(*from) || !from->count || from->count > VALUES_MOST || values > room ||
		from->names_size > room - values || !from->layout || from->layout > TRACE_LAYOUT_MAX ||
		!plain_event(from->event))
		return NULL;
	layout = read_memory_zeroed(
		damage, sizeof(*layout) + from->count * sizeof(*layout->value) + (size_t)from->names_size + 1, 1);
	if (!layout)
		return NULL;
	char *names = (char *)&layout->value[from->count];
	memcpy(names, &from->value[from->count], from->names_size);
	layout->number = from->layout;
	layout->event = plain_event(from->event);
	layout->states = from->count;
	layout->has_fails = from->has_fails;
	layout->fails = from->fails;
	/* If the last name ends, all do; of an offset after the names the name is empty. */
	*good = from->names_size && !names[from->names_size - 1];
	for (uint32_t i = 0; i < from->count; i++) {
		const struct trace_value *value = &from->value[i];
		bool is_stack = value->type == VALUES_TYPE_STACK;
		if (!is_possible(value->type, value->size) || (is_stack && layout->has_stack)) {
			*good = false;
			break;
		}
		layout->has_stack |= is_stack;
		*good = *good && value->name < from->names_size && value->words < from->names_size &&
			value->when < from->names_size;
		layout->value[layout->count++] = (struct read_layout_value){
			.name = value->name < from->names_size ? names + value->name : "",
			.words = value->words < from->names_size ? names + value->words : "",
			.when = value->when < from->names_size ? names + value->when : "",
			.type = value->type,
			.size = value->size,
			.role = value->role,
			.place = value->place,
			.marks = value->marks,
		};
	}
	return layout;
}
