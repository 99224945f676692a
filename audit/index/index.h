/* SPDX-License-Identifier: MIT */
/*
 * Reading an index (format/index.h): for module and command, on any thread, async-signal-safe, without libc, memory of
 * the heap or locks. A mapping is read-only; whoever has it may share it among threads.
 *
 * What is damaged is refused, and only what is looked at is read: 100 functions of 100 000 cost what those cost.
 * index_attach() checks the head, the bounds of parts and the sums of blocks; each block's bytes are summed when
 * something in it is asked for first, and what entries point to is checked where they are looked at. So an answer may
 * be "none" where damage is the reason: index_damaged() tells. A mapped index can't shrink: it is written under another
 * name and renamed.
 *
 * Which blocks were summed is a bit for each, beside the mapping. Threads set them by relaxed atomic operations: a
 * block's bytes don't change, so what a bit says is true whoever reads it when, and two threads may sum one block.
 */
#ifndef XAUDIT_AUDIT_INDEX_INDEX_H
#define XAUDIT_AUDIT_INDEX_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "format/index.h"

struct index {
	const struct index_head *head; /* NULL: none */
	size_t size;
	size_t functions; /* by number, from 0 on */
	uint64_t *seen;	  /* index_seen_size() bytes: what is known of blocks; NULL: all are sound */
	size_t mapped;	  /* bytes of our mapping; 0: not ours */
	/* Parts: offset and size; those of functions and of names in order are in entries of their size. */
	size_t function, template, templates_size, name, names_size, order, ordered, call;
	size_t calls; /* by number, as functions */
	size_t word, words, word_call, word_calls;
	size_t frame, frames; /* audit/index/frames.h */
};

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

/* The first of its other names, and the one after that; NULL: no more, or damaged. */
const char *index_alias(const struct index *index, const struct index_function *function, const char *before);

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

/*
 * A word that holds the address of a function, by number; and where its calls have their displacements, `calls` link-
 * time addresses. NULL: none, or damaged.
 */
const struct index_word *index_word(const struct index *index, size_t number);
const uint64_t *index_word_calls(const struct index *index, const struct index_word *word);

/* What a reason means, for people. */
const char *index_reason_phrase(unsigned reason);

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
