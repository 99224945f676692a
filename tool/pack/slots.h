/* SPDX-License-Identifier: MIT */
/*
 * The chunks of t<n> in a packed trace (format/pack.h): each has a slot there, at a multiple of the chunks' size, with
 * plain words, and its head tells where it was. So heads are where they can be read without the rest, and there is
 * room for the plain words of dense ones. A file that has anything else but zeros is packed as it is.
 *
 * No state; any thread, with files and memory of its own.
 */
#ifndef XAUDIT_TOOL_PACK_SLOTS_H
#define XAUDIT_TOOL_PACK_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct compact;

struct slot {
	uint64_t at; /* of the chunk, in the file */
	uint64_t bytes; /* in the slot */
	uint64_t stored; /* in the file */
};

struct slots {
	struct slot *slot;
	size_t count;  /* 0: the file is packed as it is */
	uint64_t size; /* of each */
};

/* Finds the chunks of the file. Returns 0, or ENOMEM. */
int slots_find(struct slots *slots, const struct compact *file);

/* What lies in slots from `begin` to `end`. Returns false if the file can't be read, or there is no memory. */
bool slots_read(const struct slots *slots, const struct compact *file, uint64_t begin, uint64_t end, uint8_t *to);

/* A file that is made again. */
struct slots_back {
	int fd;
	uint64_t spare;		/* behind all that it had; whole units: for what has no room where it was */
	uint64_t size;		/* of it, as far as it was made */
	uint64_t slot, next;	/* the present slot, and the one after it */
	uint64_t at, bytes;	/* its chunk in the file, and how much of it the slot has */
};

/*
 * Puts chunks back where they were, from data of the packed file that lies at `at`, which is aligned as words are, and
 * is changed. What has no head any more is left out. Returns 0 or an errno.
 */
int slots_put_back(struct slots_back *back, uint8_t *data, uint64_t at, uint64_t end);

#endif
