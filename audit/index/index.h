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
 * believe in its place. The same holds of stamps.
 *
 * An index belongs to a file if a stamp says so, and it is of the build-id that the file has in memory: to ask for both
 * costs a dozen system calls, whatever the file's size. The stamp may lie in one folder and the index in another: a
 * user's stamp may speak of the system's index.
 *
 * What is damaged is refused, and only what is looked at is read: 100 functions of 100 000 cost what those cost.
 * index_attach() checks the head, the bounds of parts and the sums of blocks; each block's bytes are summed when
 * something in it is asked for first, and what entries point to is checked where they are looked at. So an answer may
 * be "none" where damage is the reason: index_damaged() tells. A mapped index can't shrink: it is written under another
 * name and renamed.
 *
 * Which blocks were summed is a bit for each, beside the mapping. Threads set them by relaxed atomic operations: a
 * block's bytes don't change, so what a bit says is true whoever reads it when, and two threads may sum one block.
 *
 * How functions are selected, by names or patterns of names:
 *
 *	struct index_walk walk;
 *	index_match(index, pattern->function, &walk);
 *	while ((r = index_next(index, &walk, &number, &name)) > 0)
 *		if (rules_match(pattern, name, path, soname))
 *			the function `number` is meant
 *
 * It is done for each pattern; a function comes once for each of its names that could match, so remember by number what
 * is selected. Patterns that exclude are walked in the same way, after those that select.
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
	size_t functions; /* by number, from 0 on */
	uint64_t *seen;	  /* index_seen_size() bytes: what is known of blocks; NULL: all are sound */
	size_t mapped;	  /* bytes of our mapping; 0: not ours */
	/* Parts: offset and size; those of functions and of names in order are in entries of their size. */
	size_t function, template, templates_size, name, names_size, order, ordered, call;
	size_t calls; /* by number, as functions */
};

/* The names of an index and of a file's stamp in a folder; to has INDEX_NAME_MAX bytes. */
void index_file_name(const struct index_head *head, char *to);
void index_stamp_name(const struct index_identity *identity, char *to);

/*
 * The folders, by number from 0 on: writes the path to `to` (room bytes) and returns 1, or 0 when there is no folder of
 * that number, or no room. cache_home, home: values of $XDG_CACHE_HOME and $HOME, or NULL. A cache_home that is no
 * absolute path does not count (so the XDG Base Directory Specification).
 */
int index_folder(unsigned number, const char *cache_home, const char *home, char *to, size_t room);

/* Is it the same file, and has nobody changed it in between? */
int index_same_file(const struct index_identity *a, const struct index_identity *b);

/*
 * Takes bytes that are mapped, at an address that is a multiple of 8. seen: index_seen_size(size) bytes, all 0, that
 * stay as long as the index is used; NULL: all blocks are summed now. Returns 0; -EBADMSG: damaged or no index;
 * -EPROTO: of another version.
 */
int index_attach(struct index *index, const void *bytes, size_t size, uint64_t *seen);

static inline size_t index_seen_size(size_t size)
{
	return 8 + (size / INDEX_BLOCK / 64 + 1) * 8;
}

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

/* Was anything found damaged that was asked for since it was opened? */
int index_damaged(const struct index *index);

/* A function by number; NULL: none, or damaged. */
const struct index_function *index_function(const struct index *index, size_t number);

/*
 * The function that begins at this link-time address, or NULL: none, or damaged. The function that holds it, or begins
 * before it. *number may be NULL.
 */
const struct index_function *index_at(const struct index *index, uint64_t address, size_t *number);
const struct index_function *index_before(const struct index *index, uint64_t address, size_t *number);

/* The best of its names; NULL: none, or damaged. */
const char *index_name(const struct index *index, const struct index_function *function);

/*
 * Its template, whole; NULL: refused, or damaged. other: where it `meets`, the one that follows it; NULL: none, or
 * damaged.
 */
const struct index_template *index_template(const struct index *index, const struct index_function *function);
const struct index_template *index_template_other(const struct index *index, const struct index_function *function);

/*
 * Where its site is, as link-time addresses: what must be in memory before anything is written is original[0 ...
 * originals), from *from on. Returns 1, or 0 when the function is refused or what the entry says can't be (lengths that
 * contradict each other, code outside of the object's).
 */
int index_site(const struct index *index, const struct index_function *function, uint64_t *site, uint64_t *from);

/*
 * A call of __fentry__ or mcount by number; the first one of a function, whose number goes to *number, which may be
 * NULL. NULL: none, or damaged. index_template() and index_site() take its `site`.
 */
const struct index_call *index_call(const struct index *index, size_t number);
const struct index_call *index_call_of(const struct index *index, size_t function, size_t *number);

/* What a reason means, for people. */
const char *index_reason_phrase(unsigned reason);

/* ---- audit/index/match.c: functions by name ---- */

/* The caller's; what it holds is match.c's business. */
struct index_walk {
	const char *pattern;
	size_t literal; /* bytes of it */
	size_t at;	/* entry of the order; function, if `all`; SIZE_MAX: damaged */
	int all, whole; /* whole: the pattern is a literal name */
};

/*
 * Begins a walk over the functions that a pattern (rules_match()) could mean: of a literal name those alone, of a
 * literal prefix those that begin with it, both found by binary search; else all that have a name. Of a name of C++
 * (audit/match/cxx.h) it is all symbols of that language. "*" is each function once, by address, with the best of its
 * names or none. Whether a name does match is for the caller to ask. The pattern stays the caller's, and must stay
 * until the walk is over.
 */
void index_match(const struct index *index, const char *pattern, struct index_walk *walk);

/* The next one: 1; 0: there are no more; -EBADMSG: damaged, and the walk is over. *name: NULL if it has none. */
int index_next(const struct index *index, struct index_walk *walk, size_t *number, const char **name);

/* ---- inside of audit/index/ ---- */

/* Have both the same build-id, or none? */
int index_same_build(const struct index_identity *a, const struct index_identity *b);

/* Bytes of an index from an offset on, which lie in a part; NULL: damaged. */
const void *index_bytes(const struct index *index, size_t at, size_t size);

/* Notes damage that sums don't tell. */
void index_spoil(const struct index *index);

/* The name at an offset in the names, whole; NULL: damaged. */
const char *index_text(const struct index *index, uint32_t offset);

#endif
