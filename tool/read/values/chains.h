/* SPDX-License-Identifier: MIT */
/*
 * The backtraces that a chunk tells of (format/chain.h), by their keys. An event that has one as a value may come
 * behind the one that tells what it is, so who reads a chunk takes all of its events, from the first on.
 *
 * Memory: what the chunk has of them, up to a limit; what comes behind that is not known. One thread.
 */
#ifndef XAUDIT_TOOL_READ_VALUES_CHAINS_H
#define XAUDIT_TOOL_READ_VALUES_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/chain.h"
#include "tool/base/hash.h"

struct read_damage;
struct read_layout;

/* The words of a backtrace: callers, and why there are no more. */
struct read_chain {
	const uint64_t *word;
	uint32_t words; /* 0: there is none, or it is not known */
};

struct read_chains {
	struct read_damage *damage;
	uint64_t *word; /* of all, one after another */
	size_t words, room;
	struct read_chains_row {
		uint64_t key;
		uint32_t at, words;
	} *row;
	uint32_t rows;
	struct hash by_key; /* of row[] */
};

/* A chunk begins. */
void read_chains_clear(struct read_chains *chains);

/*
 * Takes the payload of an event, all of it, of a layout that has a backtrace; and finds that. It is valid until the
 * next call. Returns false if what is told of it can't be.
 */
bool read_chains_take(struct read_chains *chains, const struct read_layout *layout, const uint64_t *payload,
	uint32_t words, bool flawed, struct read_chain *chain);

/* The same for a key, and the words that tell what it is, if there are any. */
bool read_chains_take_key(
	struct read_chains *chains, uint64_t key, const uint64_t *word, uint32_t words, struct read_chain *chain);

/* Of zeroed memory, too. */
void read_chains_free(struct read_chains *chains);

#endif
