/* SPDX-License-Identifier: MIT */
/* The index of one file, as kept or made anew. One thread. */
#ifndef XAUDIT_TOOL_CTL_INDEX_FILE_H
#define XAUDIT_TOOL_CTL_INDEX_FILE_H

#include <stdbool.h>

#include "tool/index/cache.h"

/* Finds what `xaudit index` has kept of a file, for this user or for all. */
bool index_file_look(struct index_made *to, const struct index_identity *identity);

/*
 * Looks through the file at path, or takes what is kept of one with the same content; own: the path is one of our own
 * root, not a process's. If so, what another process is making of it already is waited for, and the result is kept
 * where `xaudit index` would; where it is not, the next one makes it again. Returns 0 or -errno; -ESTALE: it is
 * another file, which is found out first. A file that got another name or owner since it was loaded is still the
 * same.
 */
int index_file_make(struct index_made *to, const struct index_identity *identity, const char *path, bool own);

/* Do both paths lead to one file now? */
bool index_file_is_one(const char *a, const char *b);

#endif
