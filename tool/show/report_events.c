/* SPDX-License-Identifier: MIT */
#include "tool/show/report_events.h"

#include <stdlib.h>
#include <string.h>

#include "tool/memory.h"

struct event_slot {
	uint32_t type;
	uint32_t row; /* + 1; 0: free */
};

/* ---- rows ---- */

static uint32_t hash_row(const char *name, uint32_t number)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; name && *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3u;
	h = (h ^ number) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 32);
}

static bool is_row(const struct event_row *row, const char *name, uint32_t number)
{
	if (!row->name || !name)
		return row->name == name && row->number == number;
	return !strcmp(row->name, name);
}

static uint32_t *find_by_name(struct event_counter *c, const char *name, uint32_t number)
{
	uint32_t at = hash_row(name, number) & (c->names - 1);

	while (c->by_name[at] && !is_row(&c->row[c->by_name[at] - 1], name, number))
		at = (at + 1) & (c->names - 1);
	return &c->by_name[at];
}

/* The row of a name, or of a number without one. */
static uint32_t find_row(struct event_counter *c, const char *name, uint32_t number)
{
	number = name ? 0 : number;
	if (c->rows * 2 >= c->names) {
		free(c->by_name);
		c->names = c->names ? c->names * 2 : 64;
		c->by_name = memory_zeroed(c->names, sizeof(*c->by_name));
		c->row = memory_resize(c->row, c->names / 2, sizeof(*c->row));
		for (uint32_t i = 0; i < c->rows; i++)
			*find_by_name(c, c->row[i].name, c->row[i].number) = i + 1;
	}
	uint32_t *slot = find_by_name(c, name, number);
	if (!*slot) {
		c->row[c->rows] =
			(struct event_row){ .name = name ? memory_text(name, strlen(name)) : NULL, .number = number };
		*slot = ++c->rows;
	}
	return *slot - 1;
}

/* ---- types of the process at hand ---- */

static struct event_slot *find_slot(struct event_counter *c, uint32_t type)
{
	uint32_t at = type * 2654435769u & (c->slots - 1);

	while (c->slot[at].row && c->slot[at].type != type)
		at = (at + 1) & (c->slots - 1);
	return &c->slot[at];
}

static void grow_slots(struct event_counter *c)
{
	struct event_slot *old = c->slot;
	uint32_t slots = c->slots;

	c->slots = slots ? slots * 2 : 64;
	c->slot = memory_zeroed(c->slots, sizeof(*c->slot));
	for (uint32_t i = 0; i < slots; i++)
		if (old[i].row)
			*find_slot(c, old[i].type) = old[i];
	free(old);
}

void event_count(struct event_counter *c, struct read_process *process, uint32_t type, uint64_t bytes)
{
	struct event_slot *slot;

	if (process != c->process)
		event_count_process_ends(c);
	c->process = process;
	if (c->used * 2 >= c->slots)
		grow_slots(c);
	slot = find_slot(c, type);
	if (!slot->row) {
		*slot = (struct event_slot){ type, find_row(c, read_process_type_now(process, type), type) + 1 };
		c->used++;
	}
	struct event_row *row = &c->row[slot->row - 1];
	row->count++;
	row->bytes += bytes;
}

void event_count_process_ends(struct event_counter *c)
{
	if (c->used)
		memset(c->slot, 0, c->slots * sizeof(*c->slot));
	c->used = 0;
	c->process = NULL;
}

/* ---- all ---- */

static int by_count(const void *a, const void *b)
{
	const struct event_row *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (!x->name != !y->name)
		return x->name ? -1 : 1;
	if (x->name)
		return strcmp(x->name, y->name);
	return x->number < y->number ? -1 : x->number > y->number;
}

void event_count_sort(struct event_counter *c)
{
	if (c->rows)
		qsort(c->row, c->rows, sizeof(*c->row), by_count);
}

void event_count_free(struct event_counter *c)
{
	for (uint32_t i = 0; i < c->rows; i++)
		free(c->row[i].name);
	free(c->row);
	free(c->slot);
	free(c->by_name);
}
