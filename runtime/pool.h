/* SPDX-License-Identifier: MIT */
/*
 * Places of a family's file `meta` (format/trace.h): mapped once, by the first process, for all that it will fork.
 *
 * Everything that comes to lie in meta needs nothing but memory: a place is taken by an atomic addition in the head of
 * the first process, and the mapping is inherited. So threads and children that have no rights, no descriptors, or
 * another root, still find room. Descriptors are used where they can be had, since they are cheaper.
 *
 * The file is sparse and much larger than what is in it; more address space than the file is mapped, so that it can
 * grow. Only what is taken is accessible, in steps: a program that locks all its memory (mlockall) gets no more of it
 * than that. Place n begins n sizes behind the first, whose address is a multiple of the size: so the address of
 * a chunk, its upper half, has the one bit that chunk.h speaks of.
 *
 * No store into a hole of the file is safe: where the disk is full it raises SIGBUS. So whoever is about to store has
 * pool_reserve() make sure of it, once.
 *
 * What the members share lies in memory that fork keeps, and does not change once pool_open() has been called: a child
 * that is forked before makes a family of its own. pool_map(), pool_open(): process lock held. All others: any thread
 * of any member, no lock, async-signal-safe, no libc.
 */
#ifndef XAUDIT_POOL_H
#define XAUDIT_POOL_H

#include <stdint.h>

#include "format/trace.h"

/*
 * Makes the empty file fd as large as it may be, and maps it: place 0 and the directory are taken, and the words of the
 * head that tell of this are written. Replaces what was mapped before, which stays where it is. Returns 0 or -errno.
 */
long pool_map(int fd, uint64_t chunk_size);

/* From now on forked children are members. Release. */
void pool_open(void);

/* Is there a family? Acquire: all that was written before pool_open() is seen. */
int pool_is_open(void);

/* Takes consecutive places. Returns the first, or -errno: the file can't grow, or has no room for their words. */
long pool_take(uint32_t places);

/*
 * Is little left of what the file may have? Then places are for whoever can't do without. A system call, but under a
 * filter.
 */
int pool_is_scarce(void);

/*
 * The process is about to be under a filter of system calls (x86_64/confined.h): has ready what taking places will
 * need, as far as the file goes now. Once there is a family.
 */
void pool_prepare(void);

/* Says whose they are. Behind all that a reader must find there (release; pairs with the reader's acquire). */
void pool_name(uint32_t first, uint32_t places, enum trace_place what, uint32_t process, uint32_t number);

/* What its thread and `xaudit record` say about the chunk there. */
struct trace_handover *pool_handover(uint32_t place);

/* Counts a chunk that was handed over. */
void pool_handed(void);

/* When `xaudit record` said last that it takes chunks (trace_head.drain_beat); 0: it does not. */
uint64_t pool_drain_beat(void);

void *pool_address(uint32_t place);
uint64_t pool_place_size(void);

enum pool_pages {
	POOL_FEW,   /* a few pages, faulted in */
	POOL_LATER, /* blocks; each page when it is stored to: whoever may end soon pays for what he uses */
	POOL_NOW,   /* all, as cheaply as it goes */
};

/*
 * Makes sure that no store to size bytes at an address in places that are taken raises SIGBUS. They must be untouched:
 * zeros may be written. Of whole pages. Returns 0, or -errno.
 */
long pool_reserve(void *at, uint64_t size, enum pool_pages how);

/*
 * Unmaps what is not used, but for some room. From then on this process, and what it forks, has no more of the family's
 * places than that. Process lock held; also where there is no family.
 */
void pool_shrink(void);

/* Nobody will store to these pages again: the file has them, and the process no more. */
void pool_forget(void *at, uint64_t size);

/* Whether a file may become so large by us: beyond RLIMIT_FSIZE the kernel would kill the program with SIGXFSZ. */
int pool_may_reach(uint64_t size);

#endif
