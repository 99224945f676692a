/* SPDX-License-Identifier: MIT */
/*
 * Which chunks t<n> has, and where: found by going from one to the next (format/stream.h). A file that grows is looked
 * at again and again: what was found is known, what lies between and behind is looked at anew, since a chunk may come
 * to a place before others. Holes cost nothing. For chunks.c alone.
 */
#ifndef XAUDIT_TOOL_READ_COPIES_H
#define XAUDIT_TOOL_READ_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct read_damage;
struct read_file;

struct read_copy {
	uint64_t at, end; /* in the file; multiples of STREAM_UNIT */
	uint64_t seq;
};

struct read_copies {
	struct read_copy *copy; /* in the order of `at` */
	size_t count;
	size_t last;	/* which one was asked for last */
	uint64_t most;	/* the highest number that there was */
	uint64_t begin; /* before it nothing is looked for */
};

#define READ_COPIES_UNKNOWN 1

/*
 * Reads what may be a chunk's head. Returns how many bytes the chunk takes there, and sets *seq; 0: there is none;
 * READ_COPIES_UNKNOWN: there is one, and how long it is nobody knows.
 * due: one may begin there, since there is a chunk before it, or a hole, or the file's beginning.
 */
typedef uint64_t read_copies_head(void *user, uint64_t at, bool due, uint64_t *seq);

/* Looks for more chunks: behind all that are known, and between the last so many of these. */
void read_copies_look(struct read_copies *copies, struct read_file *file, size_t between, read_copies_head *head,
	void *user, struct read_damage *damage);

/* One of that number, or NULL. */
const struct read_copy *read_copies_find(struct read_copies *copies, uint64_t seq);

/* The one with the highest number; NULL: there is none. */
const struct read_copy *read_copies_newest(const struct read_copies *copies);

/* The one with the lowest number above this one; NULL: there is none. */
const struct read_copy *read_copies_above(const struct read_copies *copies, uint64_t seq);

/* From where on the chunks lie that have this number or a higher one; 0: nothing is known of such. */
uint64_t read_copies_from(const struct read_copies *copies, uint64_t seq);

/* Forgets those that lie before the offset. */
void read_copies_forget(struct read_copies *copies, uint64_t offset);

#endif
