/* SPDX-License-Identifier: MIT */
#include "tool/show/report/catalog.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

static uint32_t hash_text(uint64_t h, const char *text)
{
	for (; text && *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 32);
}

static uint32_t hash_name(const char *name, const char *library)
{
	return hash_text(hash_text(0xcbf29ce484222325u, name) * 0x100000001b3u, library);
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Makes room for one more, and for none there [0]. The hash has twice as many places as there are names. */
static void grow(struct catalog *catalog)
{
	catalog->room = catalog->room ? catalog->room * 2 : 64;
	catalog->used = catalog->used ? catalog->used : 1;
	catalog->name = memory_resize(catalog->name, catalog->room, sizeof(*catalog->name));
	catalog->name[0] = (struct catalog_name){ 0 };
	free(catalog->hash);
	catalog->hash = memory_zeroed((size_t)catalog->room * 2, sizeof(*catalog->hash));
	for (uint32_t i = 1; i < catalog->used; i++) {
		const struct catalog_name *name = &catalog->name[i];
		uint32_t *at = &catalog->hash[hash_name(name->name, name->library) % (catalog->room * 2)];
		catalog->name[i].next = *at;
		*at = i;
	}
}

uint32_t catalog_find(const struct catalog *catalog, const char *name, const char *library)
{
	uint32_t i = catalog->room ? catalog->hash[hash_name(name, library) % (catalog->room * 2)] : 0;

	while (i && !(same(catalog->name[i].name, name) && same(catalog->name[i].library, library)))
		i = catalog->name[i].next;
	return i;
}

uint32_t catalog_number(struct catalog *catalog, const char *name, const char *library)
{
	uint32_t i = catalog_find(catalog, name, library);

	if (i)
		return i;
	if (catalog->used == catalog->room)
		grow(catalog);

	uint32_t *at = &catalog->hash[hash_name(name, library) % (catalog->room * 2)];
	i = catalog->used++;
	catalog->name[i] = (struct catalog_name){ .name = name ? memory_text(name, strlen(name)) : NULL,
		.library = library ? memory_text(library, strlen(library)) : NULL,
		.next = *at };
	*at = i;
	return i;
}

uint32_t catalog_function(struct catalog *catalog, const struct xaudit_read_function *function)
{
	if (function->number >= catalog->of_trace_room) {
		uint32_t room = catalog->of_trace_room ? catalog->of_trace_room : 256;
		while (room <= function->number)
			room *= 2;
		catalog->of_trace = memory_resize(catalog->of_trace, room, sizeof(*catalog->of_trace));
		memset(catalog->of_trace + catalog->of_trace_room, 0,
			(room - catalog->of_trace_room) * sizeof(*catalog->of_trace));
		catalog->of_trace_room = room;
	}
	uint32_t *number = &catalog->of_trace[function->number];
	if (!*number)
		*number = catalog_number(catalog, function->name, function->object->path);
	return *number;
}

void catalog_next_trace(struct catalog *catalog)
{
	if (catalog->of_trace)
		memset(catalog->of_trace, 0, catalog->of_trace_room * sizeof(*catalog->of_trace));
}

static int compare(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

int catalog_compare(const struct catalog *catalog, uint32_t a, uint32_t b)
{
	int order = compare(catalog->name[a].name, catalog->name[b].name);

	return order ? order : compare(catalog->name[a].library, catalog->name[b].library);
}

void catalog_free(struct catalog *catalog)
{
	for (uint32_t i = 1; i < catalog->used; i++) {
		free(catalog->name[i].name);
		free(catalog->name[i].library);
	}
	free(catalog->name);
	free(catalog->hash);
	free(catalog->of_trace);
	*catalog = (struct catalog){ 0 };
}
