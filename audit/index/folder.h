/* SPDX-License-Identifier: MIT */
/*
 * The folders that indexes lie in, and opening the index of a file there. As index.h: any thread, async-signal-safe.
 *
 * Whose index is believed. Its templates become code of the process that uses it, so who may write an index may run
 * code in that process. Believed is what the process's own user (effective uid) or root owns and nobody else may write:
 * the file, a regular one, and the folder that it lies in, neither by way of a symbolic link. Two folders are looked
 * into, the user's before the system's:
 *	$XDG_CACHE_HOME/xaudit, else $HOME/.cache/xaudit	0700, files 0600
 *	/var/cache/xaudit					root's, 0755, files 0644: for all users and services
 * Folders above those two are not looked at: who can change these can remove an index, or replace it by another one
 * that we believe. The same holds of stamps.
 *
 * An index belongs to a file if a stamp says so, and it is of the build-id that the file has in memory: to ask for both
 * costs a dozen system calls, whatever the file's size. The stamp may lie in one folder and the index in another: a
 * user's stamp may speak of the system's index.
 */
#ifndef XAUDIT_AUDIT_INDEX_FOLDER_H
#define XAUDIT_AUDIT_INDEX_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "audit/index/index.h"

#define INDEX_SYSTEM_FOLDER "/var/cache/xaudit"
#define INDEX_NAME_MAX	    128 /* of a file in a folder, with its NUL */

/* The names of an index and of a file's stamp in a folder; to has INDEX_NAME_MAX bytes. */
void index_file_name(const struct index_head *head, char *to);
void index_stamp_name(const struct index_identity *identity, char *to);

/*
 * The folders, by number from 0 on: writes the path to `to` (room bytes) and returns 1, or 0 when there is no folder of
 * that number, or no room. cache_home, home: values of $XDG_CACHE_HOME and $HOME, or NULL. A cache_home that is no
 * absolute path does not count (so the XDG Base Directory Specification).
 */
int index_folder(unsigned number, const char *cache_home, const char *home, char *to, size_t room);

/*
 * Opens the index of a file in a folder, by a stamp that lies there, too. Returns 0; -ENOENT; -EPERM: folder, stamp or
 * index is somebody else's, or others may write there; -ESTALE: of another file; -errno of a system call; or as
 * index_attach(). name, of INDEX_NAME_MAX bytes: what the stamp says; "" if there is none.
 */
int index_open(struct index *index, const char *folder, const struct index_identity *identity, char *name);

/* The same of one whose name is known, without a stamp. */
int index_open_named(
	struct index *index, const char *folder, const struct index_identity *identity, const char *name);

/*
 * Opens it in the first folder that has a good one for the file. Returns 0; else why not, of the first folder that has
 * one: -EPERM, -EBADMSG, -EPROTO, -ESTALE; -ENOENT.
 */
int index_look(struct index *index, const char *const *folder, unsigned folders,
	const struct index_identity *identity);
void index_close(struct index *index);

#endif
