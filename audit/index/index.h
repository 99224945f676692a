/* SPDX-License-Identifier: MIT */
/*
 * Reading an index (format/index.h): for module and command, on any thread, async-signal-safe, without libc, memory of
 * the heap or locks. A mapping is read-only; whoever has it may share it among threads.
 *
 * Whose index is believed. Its templates become code of the process that uses it, so who may write an index may run
 * code in that process. Believed is what the process's own user (effective uid) or root owns and nobody else may write:
 * the file, a regular one, and the folder that it lies in, neither by way of a symbolic link. Two folders are looked
 * into, the user's before the system's:
 *	$XDG_CACHE_HOME/xaudit, else $HOME/.cache/xaudit	0700, files 0600
 *	/var/cache/xaudit					root's, 0755, files 0644: for all users and services
 * What is above those folders is not looked at: who can change that can take an index away, or put another one that we
 * believe in its place.
 *
 * What is damaged is refused: index_attach() checks head and bounds of parts, index_sound() the sums of parts, and what
 * entries point to is checked where they are looked at. A mapped index can't shrink: it is written under another name
 * and renamed.
 */
#ifndef XAUDIT_AUDIT_INDEX_INDEX_H
#define XAUDIT_AUDIT_INDEX_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "format/index.h"

#define INDEX_SYSTEM_FOLDER "/var/cache/xaudit"
#define INDEX_NAME_MAX	    128 /* of a file in a folder, with its NUL */

struct index {
	const struct index_head *head; /* NULL: none */
	size_t size;
	const struct index_function *function;
	size_t functions;
	const uint8_t *templates;
	size_t templates_size;
	const char *names; /* the last byte is 0 */
	size_t names_size;
};

/* The file's name in a folder; to has INDEX_NAME_MAX bytes. */
void index_file_name(const struct index_identity *identity, char *to);

/*
 * The folders, by number from 0 on: writes the path to `to` (room bytes) and returns 1, or 0 when there is no folder of
 * that number, or no room. cache_home, home: values of $XDG_CACHE_HOME and $HOME, or NULL. A cache_home that is no
 * absolute path does not count (so the XDG Base Directory Specification).
 */
int index_folder(unsigned number, const char *cache_home, const char *home, char *to, size_t room);

/* Is it the same file? By build-id where both have one. */
int index_same_file(const struct index_identity *a, const struct index_identity *b);

/*
 * Takes bytes that are mapped, at an address that is a multiple of 8. Returns 0; -EBADMSG: damaged or no index;
 * -EPROTO: of another version.
 */
int index_attach(struct index *index, const void *bytes, size_t size);

/* Do the bytes of this part have their sum? Reads all of it. Returns 1 or 0. */
int index_sound(const struct index *index, enum index_part_number part);

/*
 * Opens the index of a file in a folder. Returns 0; -ENOENT; -EPERM: folder or index is somebody else's, or others may
 * write there; -ESTALE: of another file; -errno of a system call; or as index_attach(). sums: check the sums of all
 * parts, too (else index_sound() is the caller's, before he uses a part).
 */
int index_open(struct index *index, const char *folder, const struct index_identity *identity, int sums);
void index_close(struct index *index);

/* The function that begins at this link-time address, or NULL. The function that holds it, or begins before it. */
const struct index_function *index_at(const struct index *index, uint64_t address);
const struct index_function *index_before(const struct index *index, uint64_t address);

/* Its name; NULL: none, or damaged. */
const char *index_name(const struct index *index, const struct index_function *function);

/* Its template, whole; NULL: refused, or damaged. */
const struct index_template *index_template(const struct index *index, const struct index_function *function);

/*
 * Where its site is, as link-time addresses: what must be in memory before anything is written is original[0 ...
 * originals), from *from on. Returns 1, or 0 when the function is refused or what the entry says can't be (lengths that
 * contradict each other, code outside of the object's).
 */
int index_site(const struct index *index, const struct index_function *function, uint64_t *site, uint64_t *from);

/* What a reason means, for people. */
const char *index_reason_phrase(unsigned reason);

#endif
