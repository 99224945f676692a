/* SPDX-License-Identifier: MIT */
/*
 * A table from hashes of keys to numbers of rows, which are the caller's, as are the keys: an array, mostly, that rows
 * are appended to. The caller hashes its key, and compares the rows that have this hash:
 *
 *	uint32_t row = HASH_FIND(i, &table, hash_key(pid, tid), thread[i].pid == pid && thread[i].tid == tid);
 *
 *	if (row == HASH_NONE)
 *		hash_add(&table, hash_key(pid, tid), row = threads++);
 *
 * Zeroed memory is an empty table. Any number of threads may look for rows while none adds or removes one.
 */
#ifndef XAUDIT_TOOL_HASH_H
#define XAUDIT_TOOL_HASH_H

#include <stdbool.h>
#include <stddef.h> /* NULL */
#include <stdint.h>

#define HASH_NONE UINT32_MAX /* no row has this number */

/* Open addressing: a row is in the first slot that was free from the place of its hash on. Half of them are free. */
struct hash {
	struct hash_slot {
		uint32_t hash;
		uint32_t next; /* number of the row + 1; 0: the slot is free */
	} *slot;	       /* a power of two of them; NULL: none */
	uint32_t mask;	       /* slots - 1 */
	uint32_t shift;	       /* takes the place of a hash from the top bits of a product */
	uint32_t rows;
};

static inline uint32_t hash_key(uint64_t a, uint64_t b)
{
	return (uint32_t)(((a * 0x9e3779b97f4a7c15u ^ b) * 0xbf58476d1ce4e5b9u) >> 32);
}

/* text: may be NULL. seed: what else the key consists of. */
static inline uint32_t hash_text(uint32_t seed, const char *text)
{
	uint64_t h = (0xcbf29ce484222325u ^ seed) * 0x100000001b3u;

	for (; text && *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 32);
}

/* Where the search for a hash begins. Hashes that are numbers in a row are spread, too. */
static inline uint32_t hash_place(const struct hash *table, uint32_t hash)
{
	return hash * 2654435769u >> table->shift;
}

/* The number of the first row for which the condition `same`, which names the number i, holds; HASH_NONE. */
#define HASH_FIND(i, table, hash_, same)                                                                     \
	({                                                                                                   \
		const struct hash *find_table = (table);                                                     \
		uint32_t find_hash = (hash_), find_row = HASH_NONE;                                          \
		uint32_t find_at = hash_place(find_table, find_hash);                                        \
		const struct hash_slot *find_slot = find_table->slot ? &find_table->slot[find_at] : NULL;    \
		while (find_slot && find_slot->next) {                                                       \
			uint32_t i __attribute__((unused)) = find_slot->next - 1;                            \
			if (find_slot->hash == find_hash && (same)) {                                        \
				find_row = i;                                                                \
				break;                                                                       \
			}                                                                                    \
			find_at = (find_at + 1) & find_table->mask;                                          \
			find_slot = &find_table->slot[find_at];                                              \
		}                                                                                            \
		find_row;                                                                                    \
	})

/* Adds a row, which is not looked for: the caller knows that it is not there. Returns false if there is no memory. */
bool hash_add(struct hash *table, uint32_t hash, uint32_t row);

/*
 * Removes a row, to empty a table that has far more slots than rows: none may be looked for, or added, before all are
 * removed.
 */
void hash_remove(struct hash *table, uint32_t hash, uint32_t row);

/* Removes all rows, and keeps the memory. */
void hash_clear(struct hash *table);

/* Removes all rows, and frees the memory. */
void hash_free(struct hash *table);

#endif
