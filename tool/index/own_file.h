/* SPDX-License-Identifier: MIT */
/*
 * ELF files that may be somebody else's. What is looked through is mapped, and what is checked there is read again
 * later: so a file that another user may change is copied first, into memory that nobody else has. One that is ours,
 * or root's, is read where it is: if it is cut off meanwhile, tool/base/bus.h has zeros there.
 */
#ifndef XAUDIT_TOOL_INDEX_OWN_FILE_H
#define XAUDIT_TOOL_INDEX_OWN_FILE_H

#include <stdbool.h>

/* Opens a regular file for reading. Returns a descriptor, or -errno; -ENOEXEC: it is none. */
int own_open(const char *path);

/*
 * A descriptor of what the file holds, to be closed by the caller: of itself, or of a copy. Returns -errno if it can't
 * be had; -ENOEXEC: no regular file; -EFBIG: another user's, and of more than 1 GiB.
 */
int own_copy(int fd);

/* May nobody but this user and root change the file? */
bool own_is(int fd);

/*
 * May nobody but this user and root change what lies at the path, which is a real one: absolute, without symbolic
 * links? Nobody else may write to a folder on the way there, but to one where names stay their owners' (as in /tmp).
 */
bool own_is_path(const char *path);

#endif
