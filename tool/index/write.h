/* SPDX-License-Identifier: MIT */
/* From a file to its index: analysis in memory, and the file of the index. One thread. */
#ifndef XAUDIT_TOOL_INDEX_WRITE_H
#define XAUDIT_TOOL_INDEX_WRITE_H

#include <stddef.h>

#include "format/index.h"

/* A whole index in memory. */
struct index_made {
	void *bytes; /* of the heap */
	size_t size;
	size_t instructions, decoded; /* what was looked at */
};

/* Analyses the file. path: for debug files beside it. Returns 0 or -errno; -ENOEXEC: no x86-64 program or library. */
int index_make(struct index_made *made, int fd, const char *path);

/*
 * Puts it into a folder, under its name, by rename. The folder is made, with those above it, if it is missing. Modes
 * are those of audit/index/index.h: shared or the user's own. Returns 0, or -errno; -EPERM: the folder is
 * somebody else's, or others may write to it, so nobody would believe what lies there.
 */
int index_put(const struct index_made *made, const char *folder, int shared);

/* Writes it to a file or pipe, from its position on. Returns 0 or -errno. */
int index_write(int fd, const struct index_made *made);

#endif
