/* SPDX-License-Identifier: MIT */
/* The index of a file, for commands that read it: the one that is kept, or one made now. One thread. */
#ifndef XAUDIT_TOOL_INDEX_FILE_INDEX_H
#define XAUDIT_TOOL_INDEX_FILE_INDEX_H

#include "audit/index/index.h"

struct index_had {
	struct index index;
	void *made; /* NULL: it was kept */
};

/*
 * Takes the kept index of the file, or of a file with the same content, if that index is whole and the module would
 * believe it (audit/index/find.h); else makes one, which is not kept. path: for debug files beside it. Returns 0, or as
 * index_make(). Nobody asks a server for debug files from then on: the environment says so.
 */
int index_have(struct index_had *had, int fd, const char *path);
void index_drop(struct index_had *had);

struct image_name;

/*
 * The part that reads nothing but the stamp: opens it, and returns 1, or 0. One that was made of a stripped copy is not
 * good enough for a file with symbols.
 */
int index_is_kept(struct index *index, const struct image_name *name);

/* What else is to be known of a usable function, by number from 0 on: a phrase; NULL: no more. */
const char *index_remark(const struct index_function *function, unsigned number);

#endif
