/* SPDX-License-Identifier: MIT */
#include "tool/probe/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "audit/match/cxx.h"
#include "audit/match/match.h"
#include "tool/base/memory.h"
#include "tool/index/image.h"

static const char cold[] = ".cold";

/* ---- tables ---- */

static uint32_t find_row(const struct symbols_table *table, const char *name)
{
	return HASH_FIND(i, &table->by_name, hash_text(0, name), !strcmp(table->row[i].name, name));
}

/* The one in the table is the first of its name, the others follow it. */
static void add(struct symbols_table *table, const char *name, uint32_t function)
{
	uint32_t first = find_row(table, name), number = (uint32_t)table->rows;

	table->row = memory_grow(table->row, table->rows, sizeof(*table->row));
	struct symbols_row *row = &table->row[table->rows++];
	*row = (struct symbols_row){ .name = name, .function = function, .next = HASH_NONE };
	if (first == HASH_NONE) {
		memory_hash(&table->by_name, hash_text(0, name), number);
		return;
	}
	row->next = table->row[first].next;
	table->row[first].next = number;
}

static const char *keep(struct symbols *symbols, const char *text, size_t length)
{
	symbols->text = memory_grow(symbols->text, symbols->texts, sizeof(*symbols->text));
	return symbols->text[symbols->texts++] = memory_text(text, length);
}

typedef void take_name(struct symbols *symbols, const char *name, uint32_t function);

static void take_own(struct symbols *symbols, const char *name, uint32_t function)
{
	add(&symbols->own, name, function);
}

static void take_written(struct symbols *symbols, const char *name, uint32_t function)
{
	char written[CXX_NAME_SIZE];

	if (name[0] != '_' || name[1] != 'Z' || !cxx_name(name, written))
		return;
	add(&symbols->written, keep(symbols, written + 2, strlen(written + 2)), function);
	if (cxx_simple(written))
		add(&symbols->written, keep(symbols, written + 2, strlen(written + 2)), function);
}

static void take_cold(struct symbols *symbols, const char *name, uint32_t function)
{
	const char *end = name;

	while ((end = strstr(end, cold))) {
		if (!end[sizeof(cold) - 1] || end[sizeof(cold) - 1] == '.')
			add(&symbols->cold, keep(symbols, name, (size_t)(end - name)), function);
		end++;
	}
}

/* With other names of functions, if `aliases` is set. */
static void make(struct symbols *symbols, struct symbols_table *table, take_name *take, bool aliases)
{
	const struct image *image = symbols->image;

	if (table->made)
		return;
	table->made = true;
	for (size_t i = 0; i < image->functions; i++)
		if (image->function[i].name)
			take(symbols, image->function[i].name, (uint32_t)i);
	for (size_t i = 0; aliases && i < image->aliases; i++)
		take(symbols, image->alias[i].name, image->alias[i].function);
}

static void free_table(struct symbols_table *table)
{
	hash_free(&table->by_name);
	free(table->row);
}

void symbols_begin(struct symbols *symbols, const struct image *image)
{
	*symbols = (struct symbols){ .image = image };
}

void symbols_end(struct symbols *symbols)
{
	free_table(&symbols->own);
	free_table(&symbols->written);
	free_table(&symbols->cold);
	for (size_t i = 0; i < symbols->texts; i++)
		free(symbols->text[i]);
	free(symbols->text);
	free(symbols->line);
	*symbols = (struct symbols){ 0 };
}

/* ---- finding ---- */

struct list {
	uint32_t *function;
	size_t count;
};

static void put(struct list *to, uint32_t function)
{
	to->function = memory_grow(to->function, to->count, sizeof(*to->function));
	to->function[to->count++] = function;
}

static void look_up(struct list *to, const struct symbols_table *table, const char *name)
{
	for (uint32_t i = find_row(table, name); i != HASH_NONE; i = table->row[i].next)
		put(to, table->row[i].function);
}

static void look_at_all(struct list *to, const struct image *image, const char *pattern)
{
	const struct rules_pattern is = { .function = pattern };

	for (size_t i = 0; i < image->functions; i++)
		if (rules_match(&is, image->function[i].name, "", NULL))
			put(to, (uint32_t)i);
	for (size_t i = 0; i < image->aliases; i++)
		if (rules_match(&is, image->alias[i].name, "", NULL))
			put(to, image->alias[i].function);
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* In order, each once. */
static size_t finish(struct list *list, uint32_t **function)
{
	size_t kept = 0;

	if (list->count)
		qsort(list->function, list->count, sizeof(*list->function), by_number);
	for (size_t i = 0; i < list->count; i++)
		if (!kept || list->function[kept - 1] != list->function[i])
			list->function[kept++] = list->function[i];
	*function = list->function;
	return kept;
}

size_t symbols_find(struct symbols *symbols, const char *pattern, uint32_t **function)
{
	struct list list = { 0 };

	/* What is a pattern has one of these. */
	if (strpbrk(pattern, "*?[\\")) {
		look_at_all(&list, symbols->image, pattern);
		return finish(&list, function);
	}
	make(symbols, &symbols->own, take_own, true);
	look_up(&list, &symbols->own, pattern);
	if (cxx_is_pattern(pattern)) {
		make(symbols, &symbols->written, take_written, true);
		look_up(&list, &symbols->written, strncmp(pattern, "::", 2) ? pattern : pattern + 2);
	}
	return finish(&list, function);
}

size_t symbols_cold(struct symbols *symbols, const char *name, uint32_t **function)
{
	struct list list = { 0 };

	make(symbols, &symbols->cold, take_cold, false);
	look_up(&list, &symbols->cold, name);
	return finish(&list, function);
}
