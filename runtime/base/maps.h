/* SPDX-License-Identifier: MIT */
/*
 * Questions to /proc/self/maps. Process lock held (the buffers are static: a program's stack may be small); no libc,
 * async-signal-safe.
 */
#ifndef XAUDIT_MAPS_H
#define XAUDIT_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
	uint64_t low, high;
	uint64_t device; /* as the kernel prints it: compare it with another mapping's only (overlay file systems) */
	uint64_t inode;	 /* 0: no file is mapped */
	uint64_t offset; /* of low, in the file */
	char rights[4];	 /* as the kernel prints them: "r-xp" */
	int is_heap, is_stack; /* of the program's first thread */
	const char
		*name; /* of the file, as the kernel tells it, or ""; only by maps_find(), until the next question */
};

/* The mapping that holds the address. Returns 1, 0 when there is none, -1 when the kernel's list can't be read. */
int maps_find(uint64_t address, struct mapping *mapping);

/* May the program write to this address? 1 or 0; -1 as above. */
bool maps_is_writable(uint64_t address);

/* The first `room` mappings that have a part in low...high-1, in order. Returns their number, or -1 when the kernel's
 * list can't be read. */
long maps_list(uint64_t low, uint64_t high, struct mapping *mapping, size_t room);

#endif
