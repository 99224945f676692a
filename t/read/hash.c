/* SPDX-License-Identifier: MIT */
/* Tables of hashes: many keys of one hash, keys that are numbers in a row, growth, and emptying. */
#include "tool/base/hash.h"

#include <stdlib.h>

#include "t/lib/tap.h"

#define ROWS 10000u

static uint32_t key[ROWS];

static uint32_t find(const struct hash *table, uint32_t hash, uint32_t wanted)
{
	return HASH_FIND(i, table, hash, key[i] == wanted);
}

/* How many of the first `rows` keys are found under their own numbers; hash: of all keys, or UINT32_MAX: the key. */
static uint32_t found(const struct hash *table, uint32_t rows, uint32_t hash)
{
	uint32_t good = 0;

	for (uint32_t i = 0; i < rows; i++)
		good += find(table, hash == UINT32_MAX ? key[i] : hash, key[i]) == i;
	return good;
}

static void fill(struct hash *table, uint32_t rows, uint32_t factor)
{
	for (uint32_t i = 0; i < rows; i++) {
		key[i] = i * factor;
		hash_add(table, key[i], i);
	}
}

/* The longest way from a key's place to its row. */
static uint32_t longest(const struct hash *table)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i <= table->mask; i++) {
		if (!table->slot[i].next)
			continue;
		uint32_t way = (i - hash_place(table, table->slot[i].hash)) & table->mask;
		most = way > most ? way : most;
	}
	return most;
}

int main(void)
{
	struct hash table = { 0 };

	is_int(find(&table, 1, 1), HASH_NONE, "an empty table has no row");
	fill(&table, ROWS, 1);
	is_int(table.rows, ROWS, "rows are counted");
	is_int(table.mask + 1, 32768, "at least half of the slots are free");
	is_int(found(&table, ROWS, UINT32_MAX), ROWS, "each row is found by its own hash");
	is_int(find(&table, ROWS, ROWS), HASH_NONE, "a hash that no row has is not found");
	ok(longest(&table) < 4, "numbers in a row are spread: the longest way is %u slots", longest(&table));

	hash_clear(&table);
	is_int(found(&table, ROWS, UINT32_MAX), 0, "a table that was cleared has no row");
	fill(&table, ROWS, 4096);
	is_int(found(&table, ROWS, UINT32_MAX), ROWS, "multiples of 4096 are found");
	ok(longest(&table) < 16, "and spread: the longest way is %u slots", longest(&table));

	for (uint32_t i = 0; i < ROWS; i++)
		hash_remove(&table, key[i], i);
	is_int(table.rows, 0, "rows are removed one by one");
	is_int(found(&table, ROWS, UINT32_MAX), 0, "and none is found");
	hash_free(&table);
	ok(!table.slot && !table.mask && !table.rows, "a table that was freed is empty");

	for (uint32_t i = 0; i < 100; i++) {
		key[i] = i;
		hash_add(&table, 7, i);
	}
	is_int(found(&table, 100, 7), 100, "100 rows of one hash are told apart by the caller");
	is_int(HASH_FIND(i, &table, 7, key[i] >= 50 && key[i] < 51), 50, "a condition may be any");
	hash_free(&table);

	is_int(hash_text(0, NULL), hash_text(0, ""), "no text has the hash of an empty one");
	ok(hash_text(0, "a") != hash_text(1, "a"), "a seed makes another hash of a text");
	ok(hash_key(1, 2) != hash_key(2, 1), "a pair's order counts");
	return done_testing();
}
