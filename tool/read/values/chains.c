/* SPDX-License-Identifier: MIT */
#include "tool/read/values/chains.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/damage/memory.h"
#include "tool/read/values/layout.h"

#define WORDS_MOST (1u << 24) /* of a chunk */

void read_chains_clear(struct read_chains *chains)
{
	chains->words = 0;
	chains->rows = 0;
	hash_clear(&chains->by_key);
}

void read_chains_free(struct read_chains *chains)
{
	free(chains->word);
	free(chains->row);
	hash_free(&chains->by_key);
	*chains = (struct read_chains){ .damage = chains->damage };
}

/*
 * The key of the backtrace, 0: none, and how many bytes the values have. Returns false if that is not known: a value is
 * of a type that is not, or the payload is too short.
 */
static bool look_through(
	const struct read_layout *layout, const uint8_t *bytes, size_t size, bool flawed, uint64_t *key, size_t *end)
{
	size_t at = flawed ? layout->states : 0;

	*key = 0;
	if (layout->count < layout->states)
		return false;
	for (uint32_t i = 0; i < layout->count; i++) {
		const struct read_layout_value *value = &layout->value[i];
		uint16_t length = 0;

		if (value->type == VALUES_TYPE_NONE)
			continue;
		size_t head = value->size ? value->size : sizeof(length);
		if (at > size || size - at < head)
			return false;
		if (!value->size)
			memcpy(&length, bytes + at, sizeof(length));
		if (value->type == VALUES_TYPE_STACK && !(flawed && bytes[i] != VALUES_WHOLE))
			memcpy(key, bytes + at, sizeof(*key));
		at += head + length;
	}
	*end = at;
	return at <= size;
}

static bool is_possible(const uint64_t *word, uint32_t words)
{
	if (words > CHAIN_MOST + 1)
		return false;
	for (uint32_t i = 0; i < words; i++)
		if (!(word[i] & CHAIN_END) != (i + 1 < words))
			return false;
	return true;
}

static void define(struct read_chains *chains, uint64_t key, const uint64_t *word, uint32_t words)
{
	if (words > WORDS_MOST - chains->words)
		return;
	if (words > chains->room - chains->words) {
		size_t room = 2 * chains->room + 512;
		if (!read_memory_resize(chains->damage, &chains->word, room, sizeof(*chains->word)))
			return;
		chains->room = room;
	}
	if (!read_memory_grow(chains->damage, &chains->row, chains->rows, sizeof(*chains->row)) ||
		!read_memory_hash(chains->damage, &chains->by_key, hash_key(key, 0), chains->rows))
		return;
	memcpy(chains->word + chains->words, word, words * sizeof(*word));
	chains->row[chains->rows++] = (struct read_chains_row){ key, (uint32_t)chains->words, words };
	chains->words += words;
}

static uint32_t find(const struct read_chains *chains, uint64_t key)
{
	return HASH_FIND(i, &chains->by_key, hash_key(key, 0), chains->row[i].key == key);
}

bool read_chains_take_key(
	struct read_chains *chains, uint64_t key, const uint64_t *word, uint32_t words, struct read_chain *chain)
{
	*chain = (struct read_chain){ 0 };
	if (words && (!key || !is_possible(word, words)))
		return false;
	uint32_t row = key ? find(chains, key) : HASH_NONE;
	if (row == HASH_NONE && words) {
		define(chains, key, word, words);
		row = find(chains, key);
	}
	if (row != HASH_NONE)
		*chain = (struct read_chain){ chains->word + chains->row[row].at, chains->row[row].words };
	return true;
}

bool read_chains_take(struct read_chains *chains, const struct read_layout *layout, const uint64_t *payload,
	uint32_t words, bool flawed, struct read_chain *chain)
{
	uint64_t key;
	size_t end;

	*chain = (struct read_chain){ 0 };
	if (!look_through(layout, (const uint8_t *)payload, words * sizeof(*payload), flawed, &key, &end))
		return true;
	uint32_t first = end ? (uint32_t)((end + 7) / 8) : 1, more = words > first ? words - first : 0;
	return read_chains_take_key(chains, key, payload + first, more, chain);
}
