/* SPDX-License-Identifier: MIT */
#include "tool/alloc/maps.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

/* The first one that ends behind the address. */
static uint32_t find(const struct alloc_maps *maps, uint64_t address)
{
	uint32_t low = 0, high = maps->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (maps->map[middle].from + maps->map[middle].size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void insert(struct alloc_maps *maps, uint32_t at, const struct alloc_map *map)
{
	maps->map = memory_grow(maps->map, maps->count, sizeof(*maps->map));
	memmove(&maps->map[at + 1], &maps->map[at], (maps->count - at) * sizeof(*maps->map));
	maps->map[at] = *map;
	maps->count++;
}

static void drop(struct alloc_maps *maps, uint32_t at)
{
	maps->count--;
	memmove(&maps->map[at], &maps->map[at + 1], (maps->count - at) * sizeof(*maps->map));
}

void alloc_maps_cut(struct alloc_maps *maps, uint64_t from, uint64_t size, struct alloc_maps *pieces)
{
	uint64_t to = from + size < from ? UINT64_MAX : from + size;

	for (uint32_t at = find(maps, from); at < maps->count && maps->map[at].from < to;) {
		struct alloc_map *map = &maps->map[at], whole = *map, piece = whole;
		uint64_t end = whole.from + whole.size;

		piece.from = whole.from > from ? whole.from : from;
		piece.size = (end < to ? end : to) - piece.from;
		piece.parts = (whole.from < piece.from) + (piece.from + piece.size < end) - 1;
		insert(pieces, pieces->count, &piece);
		if (piece.parts < 0) {
			drop(maps, at);
			continue;
		}
		if (whole.from < piece.from)
			map->size = piece.from - whole.from;
		else
			*map = (struct alloc_map){ .from = to, .size = end - to, .stack = whole.stack };
		if (piece.parts > 0)
			insert(maps, at + 1,
				&(struct alloc_map){ .from = to, .size = end - to, .stack = whole.stack });
		at++;
	}
}

void alloc_maps_put(struct alloc_maps *maps, const struct alloc_map *map)
{
	insert(maps, find(maps, map->from), map);
}

void alloc_maps_free(struct alloc_maps *maps)
{
	free(maps->map);
	*maps = (struct alloc_maps){ 0 };
}
