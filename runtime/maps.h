/* SPDX-License-Identifier: MIT */
/*
 * Questions to /proc/self/maps. Process lock held (the buffers are static: a program's stack may be small); no libc,
 * async-signal-safe.
 */
#ifndef XAUDIT_MAPS_H
#define XAUDIT_MAPS_H

#include <stdint.h>

struct mapping {
	uint64_t low, high;
	uint64_t device; /* as the kernel prints it: comparable with another mapping's only (overlay file systems) */
	uint64_t inode;	 /* 0: no file behind it */
	int is_heap;
};

/* The mapping that holds the address. Returns 1, 0 when there is none, -1 when the kernel's list can't be read. */
int maps_find(uint64_t address, struct mapping *mapping);

#endif
