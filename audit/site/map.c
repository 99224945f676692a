/* SPDX-License-Identifier: MIT */
#include "audit/site/map.h"

#include <errno.h> /* ENOMEM */

#include "audit/site/elf_file.h"

int site_add_map(struct site_file *file, struct site_maps *maps, const uint8_t *bytes, uint64_t address, size_t count)
{
	struct site_map *map = arena_alloc(&file->scratch, sizeof(*map));

	if (!map)
		return -ENOMEM;
	*map = (struct site_map){NULL, bytes, address, count};
	maps->count += count;
	if (maps->last)
		maps->last->next = map;
	else
		maps->first = map;
	maps->last = map;
	return 0;
}
