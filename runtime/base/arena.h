/* SPDX-License-Identifier: MIT */
/*
 * Memory that is given out piece by piece and given back as a whole: the only allocator of the module.
 *
 * An arena belongs to the code that made it; no lock. Built on raw mmap, so it never enters a malloc (the audit
 * namespace's leaks per thread and can deadlock after fork). Memory is zero. Async-signal-safe.
 *
 * The first arenas begin in windows of 8 KiB of static memory: a start makes half a dozen that stay small, and each
 * mapping would cost it 5 us. A window is used again if its arena is freed before another one has begun, else never.
 *
 * Four blocks of 64 KiB that were given back are kept for arenas to come, filled with zeros: a page that is touched for
 * the first time costs ten times what it costs to fill one. Any thread takes and keeps them, without a lock; a child
 * that is forked meanwhile may lose one.
 */
#ifndef XAUDIT_ARENA_H
#define XAUDIT_ARENA_H

#include <stddef.h> /* size_t */

struct arena_block;

struct arena {
	struct arena_block *blocks; /* newest first */
	size_t next, end;	    /* free part of the newest block, as addresses */
	size_t mapped;		    /* bytes in all blocks */
	unsigned window;	    /* number of the window that it began in, from 1; 0: none */
};

/* Returns zeroed memory, aligned to 16, or NULL when the system has none. */
void *arena_alloc(struct arena *arena, size_t size);

/* Copies length bytes and ends them with a NUL. NULL when there is no memory. */
char *arena_string(struct arena *arena, const char *text, size_t length);

/* Gives everything back. The arena can be used again. */
void arena_free(struct arena *arena);

#endif
