/* SPDX-License-Identifier: MIT */
/*
 * Room for blocks of stubs that are right at certain distances from their text alone (audit/live/entry_copy.h): 384 MiB
 * of addresses without access, kept from the first such block on. Of a program with threads, the heaps of these, 64 MiB
 * each, would lie there when a library is opened later. It lies below all places where the kernel maps before it comes
 * that far, which are as large: so whatever is opened there has its stubs' place in the room.
 *
 * Once per process, at most: stub_room_keep(). A block that is taken from the room is mapped over it, and given back to
 * it. Forked children inherit it. A child that another thread forks in the middle may find a piece taken that is not.
 *
 * All functions: process lock held. General registers only, no libc.
 */
#ifndef XAUDIT_STUB_ROOM_H
#define XAUDIT_STUB_ROOM_H

#include <stddef.h>
#include <stdint.h>

/*
 * Keeps room below this address, unless there is some already: less, where something lies there, or none, as where
 * addresses are limited (RLIMIT_AS) or all memory is locked.
 */
void stub_room_keep(uint64_t below);

/*
 * Maps `size` bytes, readable and writable, at this address (page aligned). NULL: it is not in the room, or taken, or
 * the program, which unmaps or maps there though it is not its own, has something there.
 */
uint8_t *stub_room_take(uint64_t at, size_t size);

/* Gives that back. Returns 1, or 0: it is the caller's to unmap, as it was not taken from here, or confined(). */
int stub_room_give(uint8_t *start, size_t size);

/* Unmaps what is not taken; no more is, and no room is kept later. */
void stub_room_shrink(void);

#endif
