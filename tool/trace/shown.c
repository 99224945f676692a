/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/trace/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/hash.h"
#include "tool/base/memory.h"
#include "tool/show/term/names.h"

static struct {
	struct shown **name;
	uint32_t names;
	struct hash by_raw;
} table;

static const char *text_of(const char *raw, bool bare)
{
	char *text;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));

	if (bare)
		names_print_bare(to, raw);
	else
		names_print(to, raw), fputs(names_call(raw), to);
	fclose(to);
	return memory_need(text);
}

const struct shown *shown_name(const char *raw)
{
	uint32_t hash = hash_text(0, raw);
	uint32_t found = HASH_FIND(i, &table.by_raw, hash, !strcmp(table.name[i]->raw, raw));

	if (found != HASH_NONE)
		return table.name[found];
	struct shown *name = memory_zeroed(1, sizeof(*name));
	*name = (struct shown){
		.raw = memory_text(raw, strlen(raw)), .alone = text_of(raw, false), .bare = text_of(raw, true)
	};
	table.name = memory_grow(table.name, table.names, sizeof(*table.name));
	memory_hash(&table.by_raw, hash, table.names);
	table.name[table.names++] = name;
	return name;
}

void shown_free(void)
{
	for (uint32_t i = 0; i < table.names; i++) {
		free((char *)table.name[i]->raw);
		free((char *)table.name[i]->alone);
		free((char *)table.name[i]->bare);
		free(table.name[i]);
	}
	free(table.name);
	hash_free(&table.by_raw);
	table.name = NULL;
	table.names = 0;
}
