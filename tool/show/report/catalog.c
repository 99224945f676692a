/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/report/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/text_list.h"

static uint32_t hash_name(const char *name, const char *library)
{
	return hash_text(hash_text(0, name), library);
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

uint32_t catalog_find(const struct catalog *catalog, const char *name, const char *library)
{
	uint32_t found = HASH_FIND(i, &catalog->by_name, hash_name(name, library),
		same(catalog->name[i].name, name) && same(catalog->name[i].library, library));

	return found != HASH_NONE ? found : 0;
}

uint32_t catalog_number(struct catalog *catalog, const char *name, const char *library)
{
	uint32_t number = catalog_find(catalog, name, library);

	if (number)
		return number;
	if (!catalog->used) {
		catalog->name = memory_grow(NULL, 0, sizeof(*catalog->name));
		catalog->name[catalog->used++] = (struct catalog_name){ 0 };
	}
	catalog->name = memory_grow(catalog->name, catalog->used, sizeof(*catalog->name));
	memory_hash(&catalog->by_name, hash_name(name, library), catalog->used);
	catalog->name[catalog->used] = (struct catalog_name){ .name = name ? memory_text(name, strlen(name)) : NULL,
		.library = library ? memory_text(library, strlen(library)) : NULL };
	return catalog->used++;
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
	if (!*number) {
		*number = catalog_number(catalog, function->name, function->object->path);
		catalog_alias(catalog, *number, function->aliases);
	}
	return *number;
}

uint32_t catalog_probe(struct catalog *catalog, const struct xaudit_read_probe *probe)
{
	char *name = memory_format("probe %s", probe->name);
	uint32_t number = catalog_number(catalog, name, probe->object->path);

	free(name);
	catalog->name[number].probe = true;
	return number;
}

void catalog_alias(struct catalog *catalog, uint32_t number, const char *aliases)
{
	if (!aliases || !*aliases || catalog->name[number].aliases)
		return;
	size_t size = text_list_size(aliases);
	catalog->name[number].aliases = memory_zeroed(size, 1);
	memcpy(catalog->name[number].aliases, aliases, size);
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
		free(catalog->name[i].aliases);
	}
	free(catalog->name);
	hash_free(&catalog->by_name);
	free(catalog->of_trace);
	*catalog = (struct catalog){ 0 };
}
