/* SPDX-License-Identifier: MIT */
/*
 * Places of a family's file `meta` (format/trace.h): mapped once, by the first process, for all that it will fork.
 *
 * To put something into meta takes memory alone: a place is taken by an atomic exchange in the head of the first
 * process, and the mapping is inherited. So threads and children that have no rights, no descriptors, or another root,
 * still find room. Descriptors are used if they can be opened, since they are cheaper.
 *
 * The file is sparse. It ends where the last taken place ends (pool_grow.h), and the words of the directory lie among
 * the places, in blocks: so it is at most twice as large as what is in it takes on disk, whenever and however its
 * processes end. Where a place is taken for a chunk, to grow and to reserve the chunk is one system call. That takes a
 * descriptor for a moment, so the file is made large right before a process may lose the way to it (pool_reach_far()).
 * More address space than the file has is mapped.
 * Only places that are taken are accessible, in steps: a program that locks all its memory (mlockall) locks no more
 * than these. Place n begins n sizes after the first, whose address is a multiple of the size: so in the address of a
 * chunk, which is the place's upper half, the bit that chunk.h tells of is set.
 *
 * No store into a hole of the file is safe: if the disk is full it raises SIGBUS. So code that will store to a place
 * calls pool_reserve() before, once.
 *
 * What is believed. A member may store anything to the mapping, if it has a defect, say. So each process acts on what
 * it has in private memory, inherited from the first: where directory and handovers lie, how many places there may be,
 * and how large the file is, as the kernel said. Of what is shared, `places` is compared with these bounds at
 * each use: what a member stored there can have others take a place that is somebody's, or none, which costs events;
 * but a place that is taken is neither the first one nor the directory's, and lies within the file and the mapping. The
 * same holds of places that are given back: a member, or a mistake of `xaudit record`, may make two threads store to
 * one place. Each of them goes by what it knows itself of the chunk there, and stays within the place. `places_end`,
 * `given` and `drain_beat` are hints: a wrong one costs a system call, or events.
 *
 * What the family's processes share lies in memory that fork keeps, and does not change once pool_open() has been
 * called: a child that is forked before makes a family of its own. pool_open(): process lock held. All others: any
 * thread of any member, no lock, async-signal-safe, no libc.
 */
#ifndef XAUDIT_POOL_H
#define XAUDIT_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "format/places.h"
#include "format/trace.h"

/*
 * Places whose words lie together; no more than so many, less one, are taken at once. In the first place of each block
 * its words and handovers lie behind a page, which in place 0 is the head.
 */
#define POOL_BLOCK 512u
#define POOL_BLOCK_HEAD (TRACE_HEAD_SIZE + POOL_BLOCK * (8 + sizeof(struct trace_handover)))
#define POOL_BEGUN (POOL_BLOCK_HEAD + (16ul << 10)) /* of place 0 can be stored to at once: records, too */

/* From now on forked children are members. Release. */
void pool_open(void);

/* Is there a family? Acquire: all that was written before pool_open() is seen. */
bool pool_is_open(void);

enum pool_pages {
	POOL_FEW,   /* a few pages, faulted in */
	POOL_LATER, /* blocks now, each page when it is stored to: a thread that may end soon costs only what it uses */
	POOL_NOW,   /* all pages, as cheaply as possible */
};

/* Takes consecutive places. Returns the first, or -errno: the file can't grow, or there may be no more places. */
long pool_take(uint32_t places);

/* Takes one place. *backed: its upper half is reserved, as with POOL_LATER, since that cost nothing. As pool_take(). */
long pool_take_half(bool *backed);

/*
 * Takes one place: one that `xaudit record` has given back, or else a new one. *used: the place was somebody's, so it
 * does not hold zeros, and it takes pool_reserve() with POOL_FEW to make sure of its memory. backed: as
 * pool_take_half(), or NULL: its chunk is reserved with POOL_NOW anyway.
 */
long pool_take_any(bool *used, bool *backed);

/*
 * Maps the first page of a head once more, without access, in this process alone: as long as anybody has the process's
 * memory, that mapping tells `xaudit record` so (format/trace.h, TRACE_MARKED). Returns its address, or -errno.
 */
long pool_mark(const void *head);
void pool_unmark(long mark);

/*
 * Is more than this share of the places taken that the file may have (8: an eighth)? Then they are for threads that
 * can't do without. Makes a system call, unless under a filter.
 */
bool pool_is_scarce(uint32_t share);

/*
 * The process will soon be under a filter of system calls (x86_64/confined.h): prepares all that taking places will
 * need, with a file as pool_reach_far() makes it. Once there is a family.
 */
void pool_prepare(void);

/*
 * Writes into the directory which process the places belong to. Called after all that a reader must find there is
 * stored (release; pairs with the reader's acquire).
 */
void pool_name(uint32_t first, uint32_t places, enum trace_place what, uint32_t process, uint32_t number);

/* The words of the thread and of `xaudit record` about the chunk in that place. */
struct trace_handover *pool_handover(uint32_t place);

/* Counts a chunk that was published, or was begun beside a head. */
void pool_handed(void);
void pool_beside(void);

/* When `xaudit record` last wrote that it takes chunks (trace_head.drain_beat); 0: it does not take them. */
uint64_t pool_drain_beat(void);

/* The same of `xaudit ctl watch`, which makes snapshots (trace_head.copy_beat). */
uint64_t pool_copy_beat(void);

/* Tells `xaudit record` that a process has asked for a snapshot (trace_head.asked). */
void pool_asked(void);

void *pool_address(uint32_t place);
uint64_t pool_place_size(void);

/*
 * Makes sure that no store to size bytes at an address in taken places raises SIGBUS. These bytes must be untouched,
 * since zeros may be written; they are whole pages. Returns 0, or -errno.
 */
long pool_reserve(void *at, uint64_t size, enum pool_pages how);

/*
 * Unmaps what is not used, but for some room. From then on this process and its forked children can take no more of the
 * family's places than those. Process lock held; also where there is no family.
 */
void pool_shrink(void);

/* No thread will store to these pages again: takes them out of the process's memory; the file keeps them. */
void pool_forget(void *at, uint64_t size);

#endif
