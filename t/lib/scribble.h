/* SPDX-License-Identifier: MIT */
/*
 * A process that stores what it likes to memory that others share with it: to the pages that are there, half of their
 * words, by chance: any value, small offsets, sizes, numbers of processes, addresses of canaries, as such and as
 * offsets from the memory's beginning. Canaries are pages that nobody else stores to.
 */
#ifndef XAUDIT_T_LIB_SCRIBBLE_H
#define XAUDIT_T_LIB_SCRIBBLE_H

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "t/lib/random.h"

#define SCRIBBLE_PAGE	  4096u
#define SCRIBBLE_CANARIES 4 /* pages, each between two that can't be accessed */
#define SCRIBBLE_CANARY	  0x5ca1ab1e0ddba11ull

/* Returns the address of the first; the others lie two pages apart. 0: no memory. */
static inline uint64_t scribble_canaries(void)
{
	uint8_t *p = mmap(NULL, (2 * SCRIBBLE_CANARIES + 1) * SCRIBBLE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);

	if (p == MAP_FAILED)
		return 0;
	for (int i = 0; i < SCRIBBLE_CANARIES; i++) {
		uint64_t *page = (uint64_t *)(void *)(p + (2 * i + 1) * SCRIBBLE_PAGE);
		if (mprotect(page, SCRIBBLE_PAGE, PROT_READ | PROT_WRITE))
			return 0;
		for (unsigned k = 0; k < SCRIBBLE_PAGE / 8; k++)
			page[k] = SCRIBBLE_CANARY + k;
	}
	return (uint64_t)(uintptr_t)p + SCRIBBLE_PAGE;
}

/* How many of their words have changed. */
static inline unsigned scribble_changed(uint64_t canaries)
{
	unsigned changed = 0;

	for (int i = 0; i < SCRIBBLE_CANARIES; i++)
		for (unsigned k = 0; k < SCRIBBLE_PAGE / 8; k++)
			changed += ((const volatile uint64_t *)(uintptr_t)canaries)[2 * i * (SCRIBBLE_PAGE / 8) + k] !=
				   SCRIBBLE_CANARY + k;
	return changed;
}

static inline uint64_t scribble_value(uint64_t *state, uint64_t start, uint64_t canaries)
{
	uint64_t random = random_number(state);
	uint64_t canary = canaries + (random >> 8) % SCRIBBLE_CANARIES * 2 * SCRIBBLE_PAGE +
			  (random >> 16) % (SCRIBBLE_PAGE / 8) * 8;

	switch (random % 16) {
	case 0:
		return 0;
	case 1: /* small offsets */
		return (random >> 8) % (1u << 20);
	case 2:
		return (random >> 8) % (1u << 20) & ~7ull;
	case 3: /* sizes */
		return 1ull << (random >> 8) % 64;
	case 4:
		return (1ull << (random >> 8) % 64) - 8;
	case 5: /* places and processes, by themselves and in pairs */
		return (random >> 8) % 64;
	case 6:
		return ((random >> 8) % 64) << 32 | (random >> 16) % 64;
	case 7: /* a word of the directory */
		return (random >> 8) % 8 << 60 | (random >> 16) % 64 << 32 | (random >> 24) % 64;
	case 8:
		return canary;
	case 9:
		return canary - start;
	case 10: /* less an offset of a place */
		return canary - start - (random >> 24) % 1024 * 8;
	case 11: /* the first word of an event that says that it is long */
		return 0xfull << 60 | (random & 0x0fffffffffffffffull);
	case 12:
		return UINT64_MAX - (random >> 8) % 16;
	default:
		return random_number(state);
	}
}

/* Stores to each page from start to end that is there and can be stored to; `accessible` tells where that ends. */
static inline void scribble(uint64_t start, uint64_t accessible, uint64_t *state, uint64_t canaries)
{
	unsigned char there[256];

	for (uint64_t at = start; at < accessible; at += sizeof(there) * SCRIBBLE_PAGE) {
		uint64_t size = accessible - at < sizeof(there) * SCRIBBLE_PAGE ? accessible - at
										: sizeof(there) * SCRIBBLE_PAGE;
		if (mincore((void *)(uintptr_t)at, size, there))
			return;
		for (uint64_t page = 0; page < size / SCRIBBLE_PAGE; page++) {
			volatile uint64_t *word = (volatile uint64_t *)(uintptr_t)(at + page * SCRIBBLE_PAGE);
			for (unsigned i = 0; there[page] & 1 && i < SCRIBBLE_PAGE / 8; i++)
				if (random_number(state) >> 60 & 1)
					word[i] = scribble_value(state, start, canaries);
		}
	}
}

#endif
