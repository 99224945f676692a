/* SPDX-License-Identifier: MIT */
/*
 * The module's way to the index of a file that is loaded. Looked into, in this order, until one holds an index that is
 * believed (audit/index/index.h: whose), whole at its head, of our version and of this file:
 *	$XAUDIT_INDEX, an absolute path: of a user who wants them there, and of `xaudit record` where it can write to
 *	neither of the others
 *	the user's folder and the system's, as index_folder() has them
 * The environment counts as it is when the process starts: what the program changes there later is not seen.
 *
 * index_find_init() comes once, in la_version, before any thread; from then on all is constant. Then any thread, with
 * or without locks, async-signal-safe, no libc.
 */
#ifndef XAUDIT_AUDIT_INDEX_FIND_H
#define XAUDIT_AUDIT_INDEX_FIND_H

#include "audit/index/index.h"

#define INDEX_FOLDER_VARIABLE "XAUDIT_INDEX"

/* environment: asks for a variable, as getenv() does. Copies what it needs. */
void index_find_init(char *(*environment)(const char *name));

/*
 * Finds and maps the index of the file with this identity, at this path. Returns 0, and the index is the caller's
 * (index_close()), whose blocks are checked when they are used. Else why none was found, of the first folder that has
 * one: -EPERM: somebody else's, or others may write to it; -EBADMSG: damaged; -EPROTO: of another version; -ESTALE: of
 * another file; -ENOENT when there is none in any folder, or none that this process can reach.
 */
int index_find(struct index *to, const struct index_identity *identity, const char *path);

#endif
