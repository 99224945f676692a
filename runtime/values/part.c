/* SPDX-License-Identifier: MIT */
#include "runtime/values/part.h"

bool values_lies_in(const struct plan_head *plan, uint64_t at, uint64_t size, uint64_t align)
{
	return at && at % align == 0 && at <= plan->size && size <= plan->size - at;
}

bool values_is_text(const char *text, uint64_t at, uint64_t size)
{
	for (; at < size; at++)
		if (!text[at])
			return true;
	return false;
}

/* Are the names of a layout, and the number of its values, what the code puts? */
static bool check_layout(const struct trace_layout *layout, uint32_t bytes, uint32_t values)
{
	uint64_t names = sizeof(*layout) + (uint64_t)layout->count * sizeof(*layout->value);

	if (layout->count != values || names > bytes || layout->names_size > bytes - names)
		return false;
	const char *text = (const char *)layout + names;
	for (uint32_t i = 0; i < layout->count; i++)
		if (!values_is_text(text, layout->value[i].name, layout->names_size) ||
			!values_is_text(text, layout->value[i].words, layout->names_size))
			return false;
	return true;
}

bool values_take_part(struct values_part *to, const struct plan_head *plan, const struct plan_part *from)
{
	const uint8_t *bytes = (const uint8_t *)plan;

	*to = (struct values_part){ 0 };
	if (!from->size)
		return true;
	if (!values_lies_in(plan, from->code, from->size, 1) ||
		!values_check(bytes + from->code, from->size, &to->facts))
		return false;
	to->code = bytes + from->code;
	if (!to->facts.values)
		return true;
	if (from->bytes < sizeof(struct trace_layout) || !values_lies_in(plan, from->layout, from->bytes, 8))
		return false;
	to->layout = (const struct trace_layout *)(const void *)(bytes + from->layout);
	to->bytes = from->bytes;
	return check_layout(to->layout, to->bytes, to->facts.values);
}
