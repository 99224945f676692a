/* SPDX-License-Identifier: MIT */
#include "tool/read/profile/customs.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/damage/memory.h"
#include "tool/read/process_load.h"

/* ---- rows ---- */

static bool is_row(const struct read_custom *row, const char *name, uint32_t number)
{
	if (!row->name || !name)
		return row->name == name && row->number == number;
	return !strcmp(row->name, name);
}

/* The row of a name, or of a number without one; HASH_NONE: there is no memory. */
static uint32_t find_row(struct read_customs *c, struct read_damage *damage, const char *name, uint32_t number)
{
	char *copy = NULL;

	number = name ? 0 : number;
	uint32_t hash = hash_text(number, name);
	uint32_t row = HASH_FIND(i, &c->by_name, hash, is_row(&c->row[i], name, number));
	if (row != HASH_NONE)
		return row;
	if (!read_memory_grow(damage, &c->row, c->rows, sizeof(*c->row)) ||
		(name && !(copy = read_memory_text(damage, name, strlen(name)))))
		return HASH_NONE;
	if (!read_memory_hash(damage, &c->by_name, hash, c->rows)) {
		free(copy);
		return HASH_NONE;
	}
	c->row[c->rows] = (struct read_custom){ .name = copy, .number = number };
	return c->rows++;
}

void read_customs_count(struct read_customs *c, struct read_process *process, uint32_t type, uint64_t bytes)
{
	struct read_damage *damage = process->family->damage;

	if (process != c->process)
		read_customs_process_ends(c);
	c->process = process;
	uint32_t row = HASH_FIND(i, &c->by_type, type, true);
	if (row == HASH_NONE) {
		row = find_row(c, damage, read_process_type_now(process, type), type);
		if (row == HASH_NONE || !read_memory_hash(damage, &c->by_type, type, row))
			return;
	}
	c->row[row].count++;
	c->row[row].bytes += bytes;
}

void read_customs_process_ends(struct read_customs *c)
{
	hash_clear(&c->by_type);
	c->process = NULL;
}

/* ---- all ---- */

void read_customs_merge(struct read_customs *to, const struct read_customs *from, struct read_damage *damage)
{
	to->unfinished += from->unfinished;
	for (uint32_t i = 0; i < from->rows; i++) {
		uint32_t row = find_row(to, damage, from->row[i].name, from->row[i].number);
		if (row == HASH_NONE)
			return;
		to->row[row].count += from->row[i].count;
		to->row[row].bytes += from->row[i].bytes;
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
	hash_free(&c->by_type);
	hash_free(&c->by_name);
	*c = (struct read_customs){ 0 };
}
