/* SPDX-License-Identifier: MIT */
/*
 * A packed trace as its readers see it: members, and their bytes. tool/read/trace_file.h offers them as files; nothing
 * else of the reader knows that they are packed. The format is format/pack.h.
 *
 * Blocks are decompressed when they are read, and kept while there is room (PACK_CACHE): reading a member from its
 * beginning to its end decompresses each block once, and so does reading of several in turn, as long as their blocks
 * have room together. A block that was read up to its end gives way first.
 *
 * Nothing in the file is believed. What is wrong goes into the damage that pack_open() was given, once per place; the
 * rest is read. Memory: the cache, the largest block, and what the index tells, which is less than the file.
 *
 * One thread. Different packs, also of one file, may be used by different threads.
 */
#ifndef XAUDIT_TOOL_READ_PACK_PACK_H
#define XAUDIT_TOOL_READ_PACK_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/pack.h"

struct read_damage;
struct pack_cached;

#define PACK_CACHE (64u << 20) /* bytes; but two blocks at least */

struct pack_block {
	uint64_t at;	 /* of its frame */
	uint64_t offset; /* in the member */
	uint32_t member; /* index in pack.member */
	uint32_t size, raw, pieces;
	bool bad;		    /* it can't be unpacked, which was noted */
	struct pack_cached *cached; /* NULL: it is not in memory */
};

struct pack_member {
	char *name;
	uint64_t size; /* where blocks are missing at its end: up to there */
	uint32_t mode; /* st_mode */
	uint32_t number; /* as frames have it */
	uint64_t extents;
	struct pack_extent *extent;
	size_t first, blocks; /* in pack.block */
};

struct pack {
	char *path; /* for messages */
	struct read_damage *damage;
	struct pack_member *member; /* those of usable names, by name: what is in a folder lies together */
	size_t members;
	struct pack_block *block; /* in the order of members and offsets */
	size_t blocks;
	bool cut;	/* the end of the file is missing */
	struct pack_reader *reader; /* tool/read/pack/cache.c's */
};

/* Is it a packed trace, of whatever version? */
bool pack_is(int fd);

/*
 * Opens a packed trace; the descriptor belongs to the pack from now on, unless it returns NULL: then *why is a phrase,
 * or NULL if memory ran out, which is noted as damage. path: for messages. damage: stays where it is.
 */
struct pack *pack_open(int fd, const char *path, struct read_damage *damage, const char **why);
void pack_close(struct pack *pack); /* NULL: nothing */

/* Of the packed file. */
int pack_descriptor(const struct pack *pack);

/* A member; NULL: there is none. */
const struct pack_member *pack_find(const struct pack *pack, const char *name);

/* The first member of a folder; "": all. The others follow it, up to the first of another folder: pack_is_in(). */
size_t pack_first_in(const struct pack *pack, const char *folder);
bool pack_is_in(const struct pack_member *member, const char *folder);

/* As pread(), for all of `size` or up to the end of the member. *error: EIO where that is not in the file, or 0. */
size_t pack_read(
	struct pack *pack, const struct pack_member *member, void *to, size_t size, uint64_t offset, int *error);

/* As of tool/read/trace_file.h. */
uint64_t pack_data(const struct pack_member *member, uint64_t offset);
uint64_t pack_hole(const struct pack_member *member, uint64_t offset); /* where the data ends that `offset` is in */
uint64_t pack_disk(const struct pack_member *member, uint64_t begin, uint64_t end);

/* After EIO at that offset: from where on there may be more. */
uint64_t pack_after_lost(const struct pack *pack, const struct pack_member *member, uint64_t offset);

#endif
