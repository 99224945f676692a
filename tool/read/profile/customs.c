/* SPDX-License-Identifier: MIT */
#include "tool/read/profile/customs.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/damage/memory.h"
#include "tool/read/load.h"

struct read_custom_slot {
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

static bool is_row(const struct read_custom *row, const char *name, uint32_t number)
{
	if (!row->name || !name)
		return row->name == name && row->number == number;
	return !strcmp(row->name, name);
}

static uint32_t *find_by_name(struct read_customs *c, const char *name, uint32_t number)
{
	uint32_t at = hash_row(name, number) & (c->names - 1);

	while (c->by_name[at] && !is_row(&c->row[c->by_name[at] - 1], name, number))
		at = (at + 1) & (c->names - 1);
	return &c->by_name[at];
}

static bool grow_names(struct read_customs *c, struct read_damage *damage)
{
	uint32_t names = c->names ? c->names * 2 : 64, *by_name;

	if (!read_memory_resize(damage, &c->row, names / 2, sizeof(*c->row)) ||
		!(by_name = read_memory_zeroed(damage, names, sizeof(*by_name))))
		return false;
	free(c->by_name);
	c->by_name = by_name;
	c->names = names;
	for (uint32_t i = 0; i < c->rows; i++)
		*find_by_name(c, c->row[i].name, c->row[i].number) = i + 1;
	return true;
}

/* The row of a name, or of a number without one, + 1; 0: there is no memory. */
static uint32_t find_row(struct read_customs *c, struct read_damage *damage, const char *name, uint32_t number)
{
	char *copy = NULL;

	number = name ? 0 : number;
	if (c->rows * 2 >= c->names && !grow_names(c, damage))
		return 0;
	uint32_t *slot = find_by_name(c, name, number);
	if (!*slot) {
		if (name && !(copy = read_memory_text(damage, name, strlen(name))))
			return 0;
		c->row[c->rows] = (struct read_custom){ .name = copy, .number = number };
		*slot = ++c->rows;
	}
	return *slot;
}

/* ---- types of the process at hand ---- */

static struct read_custom_slot *find_slot(struct read_customs *c, uint32_t type)
{
	uint32_t at = type * 2654435769u & (c->slots - 1);

	while (c->slot[at].row && c->slot[at].type != type)
		at = (at + 1) & (c->slots - 1);
	return &c->slot[at];
}

static bool grow_slots(struct read_customs *c, struct read_damage *damage)
{
	struct read_custom_slot *old = c->slot;
	uint32_t slots = c->slots, more = slots ? slots * 2 : 64;
	struct read_custom_slot *slot = read_memory_zeroed(damage, more, sizeof(*slot));

	if (!slot)
		return false;
	c->slot = slot;
	c->slots = more;
	for (uint32_t i = 0; i < slots; i++)
		if (old[i].row)
			*find_slot(c, old[i].type) = old[i];
	free(old);
	return true;
}

void read_customs_count(struct read_customs *c, struct read_process *process, uint32_t type, uint64_t bytes)
{
	struct read_damage *damage = process->family->damage;
	struct read_custom_slot *slot;

	if (process != c->process)
		read_customs_process_ends(c);
	c->process = process;
	if (c->used * 2 >= c->slots && !grow_slots(c, damage))
		return;
	slot = find_slot(c, type);
	if (!slot->row) {
		uint32_t row = find_row(c, damage, read_process_type_now(process, type), type);
		if (!row)
			return;
		*slot = (struct read_custom_slot){ type, row };
		c->used++;
	}
	struct read_custom *row = &c->row[slot->row - 1];
	row->count++;
	row->bytes += bytes;
}

void read_customs_process_ends(struct read_customs *c)
{
	if (c->used)
		memset(c->slot, 0, c->slots * sizeof(*c->slot));
	c->used = 0;
	c->process = NULL;
}

/* ---- all ---- */

void read_customs_merge(struct read_customs *to, const struct read_customs *from, struct read_damage *damage)
{
	to->unfinished += from->unfinished;
	for (uint32_t i = 0; i < from->rows; i++) {
		uint32_t row = find_row(to, damage, from->row[i].name, from->row[i].number);
		if (!row)
			return;
		to->row[row - 1].count += from->row[i].count;
		to->row[row - 1].bytes += from->row[i].bytes;
	}
}

static int by_count(const void *a, const void *b)
{
	const struct read_custom *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (!x->name != !y->name)
		return x->name ? -1 : 1;
	if (x->name)
		return strcmp(x->name, y->name);
	return x->number < y->number ? -1 : x->number > y->number;
}

void read_customs_sort(struct read_customs *c)
{
	if (c->rows)
		qsort(c->row, c->rows, sizeof(*c->row), by_count);
}

void read_customs_free(struct read_customs *c)
{
	for (uint32_t i = 0; i < c->rows; i++)
		free(c->row[i].name);
	free(c->row);
	free(c->slot);
	free(c->by_name);
	*c = (struct read_customs){ 0 };
}
