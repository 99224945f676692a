/* SPDX-License-Identifier: MIT */
/*
 * Memory for stubs of probes (format/probe.h): where a window's jump can reach, which may be a few places only.
 *
 * Extents are mappings of ours, r-x, that stubs of any load share; each granule of 16 bytes is free or taken. Those
 * that a pass maps are rw- until it seals them, and nobody knows of them before. What is put into sealed ones
 * later is written by way of /proc/self/mem, or the page is replaced (x86_64/pages.h): others execute what lies beside
 * it. An extent without stubs is unmapped. For all of them there are 64 MiB of addresses and 4096 mappings.
 *
 * Never mapped: pages right above the heap, which may be yet to come, or below the first thread's stack: they grow.
 *
 * A pass: probe_room_begin(), any of find, put and give, then seal, probe_room_end(). Process lock held all the time.
 * General registers only, no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_PROBE_ROOM_H
#define XAUDIT_AUDIT_LIVE_PROBE_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/probe.h"

/* Where new extents of a pass go whose stubs may be anywhere near a load. */
struct probe_near {
	uint64_t place;	    /* if that is free */
	uint64_t low, high; /* what they must reach: the load */
	uint64_t size;	    /* bytes that will be asked for */
};

void probe_room_begin(void);
void probe_room_end(void);

/*
 * Takes `size` bytes that begin at an address from low to high; near: where each address is one of those that lie near
 * a load, else NULL. Returns USABLE and the address, or TAKEN or ROOM.
 */
enum probe_refusal probe_room_find(
	uint64_t low, uint64_t high, size_t size, struct probe_near *near, uint64_t *at);

/* Writes to what was taken. Returns false: it can't be. */
bool probe_room_put(uint64_t at, const void *bytes, size_t size);

/* Makes what the pass has mapped executable. Extents for which the system refuses that are gone. */
void probe_room_seal(void);

/* Is there an extent of ours at the address? */
bool probe_room_has(uint64_t at);

/* Gives back what was taken: nobody can be in it, or come there. */
void probe_room_give(uint64_t at, size_t size);

#endif
