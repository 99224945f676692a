/* SPDX-License-Identifier: MIT */
#include "tool/read/api/cursor_slots.h"

#include <string.h>

#include "tool/read/api/cursor.h"
#include "tool/read/api/functions.h"
#include "tool/read/damage/memory.h"

static struct api_slot *slot_at(struct xaudit_read_calls *c, uint32_t number)
{
	if (number >= c->slots) {
		uint32_t more = (number + 256) / 256 * 256;
		if (!read_memory_resize(c->damage, &c->slot, more, sizeof(*c->slot)))
			return NULL;
		memset(c->slot + c->slots, 0, (more - c->slots) * sizeof(*c->slot));
		c->slots = more;
	}
	if (!c->slot[number])
		c->slot[number] = read_memory_zeroed(c->damage, 1, sizeof(**c->slot));
	return c->slot[number];
}

struct api_slot *read_api_slot_of(struct xaudit_read_calls *c, const struct read_function *from, uint32_t id)
{
	const struct xaudit_read_function *function = read_api_function(c->process, from);
	struct api_slot *slot = function ? slot_at(c, function->number) : NULL;

	if (!slot) {
		c->ready = true;
		return &c->none;
	}
	slot->function = function;
	if (from) {
		struct api_slot ***page = &c->page[id >> API_PAGE_BITS];
		if (!*page)
			*page = read_memory_zeroed(c->damage, 1u << API_PAGE_BITS, sizeof(**page));
		c->pages = c->pages > id >> API_PAGE_BITS ? c->pages : (id >> API_PAGE_BITS) + 1;
		if (*page)
			(*page)[id & API_PAGE_MASK] = slot;
		else
			c->ready = true;
	}
	return slot;
}
