/* SPDX-License-Identifier: MIT */
/*
 * The mappings of a process that count, as ranges of whole pages: by address, none overlaps another. Mappings are
 * unmapped in other ranges than they were mapped in, so what is taken out of the table are pieces. One thread.
 */
#ifndef XAUDIT_TOOL_ALLOC_MAPS_H
#define XAUDIT_TOOL_ALLOC_MAPS_H

#include <stdint.h>

struct alloc_map {
	uint64_t from, size;
	uint32_t stack; /* number of its account */
	int parts;	/* of a piece: by how many its mapping is more parts now; -1: it was all of that */
};

/* Zeroed memory is an empty list. */
struct alloc_maps {
	struct alloc_map *map;
	uint32_t count;
};

/* Takes out what is in the range, and appends it to `pieces`. */
void alloc_maps_cut(struct alloc_maps *maps, uint64_t from, uint64_t size, struct alloc_maps *pieces);

/* Adds one in a range where nothing is. */
void alloc_maps_put(struct alloc_maps *maps, const struct alloc_map *map);

void alloc_maps_free(struct alloc_maps *maps);

#endif
