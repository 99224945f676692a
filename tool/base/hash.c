/* SPDX-License-Identifier: MIT */
#include "tool/base/hash.h"

#include <stdlib.h>
#include <string.h>

#define BITS_FIRST 6 /* 64 slots */

static void put(struct hash *table, struct hash_slot row)
{
	uint32_t at = hash_place(table, row.hash);

	while (table->slot[at].next)
		at = (at + 1) & table->mask;
	table->slot[at] = row;
}

static bool grow(struct hash *table)
{
	struct hash old = *table;

	table->shift = old.slot ? old.shift - 1 : 32 - BITS_FIRST;
	table->mask = UINT32_MAX >> table->shift;
	table->slot = calloc((size_t)table->mask + 1, sizeof(*table->slot));
	if (!table->slot) {
		*table = old;
		return false;
	}
	for (size_t i = 0; old.slot && i <= old.mask; i++)
		if (old.slot[i].next)
			put(table, old.slot[i]);
	free(old.slot);
	return true;
}

bool hash_add(struct hash *table, uint32_t hash, uint32_t row)
{
	if ((!table->slot || table->rows > table->mask / 2) && !grow(table))
		return false;
	put(table, (struct hash_slot){ .hash = hash, .next = row + 1 });
	table->rows++;
	return true;
}

void hash_remove(struct hash *table, uint32_t hash, uint32_t row)
{
	uint32_t at = hash_place(table, hash);

	while (table->slot[at].next != row + 1)
		at = (at + 1) & table->mask;
	table->slot[at].next = 0;
	table->rows--;
}

void hash_clear(struct hash *table)
{
	if (table->rows)
		memset(table->slot, 0, ((size_t)table->mask + 1) * sizeof(*table->slot));
	table->rows = 0;
}

void hash_free(struct hash *table)
{
	free(table->slot);
	*table = (struct hash){ 0 };
}
