/* SPDX-License-Identifier: MIT */
/* From a file to its index: analysis in memory, and the file of the index. Called by one thread. */
#ifndef XAUDIT_TOOL_INDEX_WRITE_H
#define XAUDIT_TOOL_INDEX_WRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "format/index.h"

/* A whole index in memory. */
struct index_made {
	void *bytes; /* of the heap */
	size_t size;
	size_t instructions, decoded; /* what was looked at; 0: it was kept (cache.h) */
	bool foreign; /* another user may change the file, and what it says of its functions */
	bool changed; /* the file changed while it was read */
	bool kept;    /* a folder had it already */
};

struct image;
struct image_name;

#define INDEX_JOBS 64 /* threads, at most */

/*
 * From now on so many threads analyse a file; 0, as in the beginning: one for each processor, 8 at most, and for each
 * 512 kB of code. What comes out is the same.
 */
void index_jobs(unsigned jobs);

/* That number, for this file. */
unsigned index_jobs_for(const struct image *image);

/* From now on only so many processors count, because others analyse files, too. */
void index_processors(unsigned processors);

struct facts;
struct image;

/* What is known of the file's code, without an index of it. Returns as image_open(); 0: the caller frees both. */
int index_facts(struct image *image, struct facts *facts, int fd, const char *path);

/* Analyses the file. path, known: as image_open() takes them. Returns as that. */
int index_make(struct index_made *made, int fd, const char *path, const struct image_name *known);

/* Says in the index that it is that of this file, whose content is the same. */
void index_made_for(struct index_made *made, const struct index_identity *identity);

/* Writes it to a file or pipe, from its position on. Returns 0 or -errno. */
int index_write(int fd, const struct index_made *made);

#endif
