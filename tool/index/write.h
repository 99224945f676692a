/* SPDX-License-Identifier: MIT */
/* From a file to its index: analysis in memory, and the file of the index. One thread. */
#ifndef XAUDIT_TOOL_INDEX_WRITE_H
#define XAUDIT_TOOL_INDEX_WRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "format/index.h"

/* A whole index in memory. */
struct index_made {
	void *bytes; /* of the heap */
	size_t size;
	size_t instructions, decoded; /* what was looked at */
	bool foreign; /* another user may have given the file the build-id that it has, of any other file */
};

/* Analyses the file. path: for debug files beside it. Returns 0 or -errno; -ENOEXEC: no x86-64 program or library. */
int index_make(struct index_made *made, int fd, const char *path);

#define INDEX_FOREIGN (-4000) /* what is believed of other files can't be of one that another user may change */

/* Whom a folder of indexes is for. */
enum { INDEX_FOR_USER, INDEX_FOR_ALL, INDEX_FOR_TRACE };

/*
 * Puts it into a folder, under its name, by rename. The folder is made, with those above it, if it is missing. Modes
 * are those of audit/index/index.h: for all users, or the user's own. Only a folder for one trace takes what was made
 * of a foreign file, since later traces would take it for another file's. Returns 0, or -errno; -EPERM: the folder is
 * somebody else's, or others may write to it, so nobody would believe what lies there; -ENOTDIR: it is no folder, or a
 * symbolic link; INDEX_FOREIGN: made->foreign.
 */
int index_put(const struct index_made *made, const char *folder, int shared);

/*
 * Where this user's indexes belong: $XAUDIT_INDEX, or as index_folder() has it. Returns 1, or 0 when there is no such
 * folder, or no room in `to`. *shared: as index_put() takes it.
 */
int index_own_folder(char *to, size_t room, int *shared);

/* What it means that index_put() returned r < 0: why the folder takes none. */
const char *index_why_not_put(int r);

/* Could index_put() put anything there? Makes the folder. Returns as index_put(). */
int index_may_put(const char *folder, int shared);

/* Writes it to a file or pipe, from its position on. Returns 0 or -errno. */
int index_write(int fd, const struct index_made *made);

#endif
