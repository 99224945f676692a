/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/html/page_functions.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/html/html.h"
#include "tool/html/text.h"
#include "tool/show/calls/view.h"
#include "tool/show/term/names.h"

static uint32_t hash_of(const char *name, const char *library)
{
	return hash_text(hash_text(0, library), name);
}

void page_functions_open(struct page_functions *functions, const struct xaudit_read_profile *profile,
	const char *around)
{
	uint32_t rows = xaudit_read_profile_info(profile)->rows, shown = rows < FUNCTIONS_MOST ? rows : FUNCTIONS_MOST;

	*functions = (struct page_functions){ .profile = profile, .rows = rows, .shown = shown, .around = around };
	functions->row = memory_zeroed(shown + 1ul, sizeof(*functions->row));
	for (uint32_t i = 0; i <= shown; i++)
		functions->row[i] = (struct function_row){ .rate = -1 };
	for (uint32_t i = 0; i < shown; i++) {
		const struct xaudit_read_row *row = functions->row[i].row = xaudit_read_profile_row(profile, i);
		memory_hash(&functions->by_name, hash_of(row->name, row->library), i);
		if (!row->timed)
			continue;
		functions->row[i].median = xaudit_read_profile_percentile(profile, row, 50);
		functions->row[i].p99 = xaudit_read_profile_percentile(profile, row, 99);
	}
}

void page_functions_close(struct page_functions *functions)
{
	free(functions->row);
	free(functions->map.number);
	for (uint32_t i = 0; i < functions->callers; i++)
		free(functions->caller[i]);
	free(functions->caller);
	hash_free(&functions->by_name);
	*functions = (struct page_functions){ 0 };
}

uint32_t page_functions_map_find(
	const struct page_functions *functions, struct page_functions_map *map,
	const struct xaudit_read_function *function)
{
	const char *name = function->name, *library = function->object->path;
	uint32_t found = HASH_FIND(i, &functions->by_name, hash_of(name, library),
		!strcmp(functions->row[i].row->name, name) && !strcmp(functions->row[i].row->library, library));

	found = found != HASH_NONE ? found : functions->shown;
	*memory_number(&map->number, &map->room, function->number) = found + 1;
	return found;
}

uint32_t page_functions_find(struct page_functions *functions, const struct xaudit_read_function *function)
{
	uint32_t found = page_functions_map_find(functions, &functions->map, function);
	struct function_row *row = &functions->row[found];

	if (found < functions->shown) {
		row->function = function;
		row->around = functions->around && (view_names(functions->around, function, false) ||
			view_names(functions->around, function, true));
	}
	return found;
}

uint32_t page_functions_caller(
	struct page_functions *functions, struct page_functions_map *map, const struct xaudit_read_function *function)
{
	uint32_t found = page_functions_map_find(functions, map, function);

	if (found < functions->shown || functions->rows > FUNCTIONS_MOST || found == FUNCTIONS_MOST)
		return found;
	struct xaudit_read_row *row = memory_zeroed(1, sizeof(*row));
	*row = (struct xaudit_read_row){ .name = function->name, .library = function->object->path, .aliases = "" };
	functions->caller = memory_grow(functions->caller, functions->callers, sizeof(*functions->caller));
	functions->caller[functions->callers++] = row;
	functions->row = memory_resize(functions->row, functions->shown + 2ul, sizeof(*functions->row));
	functions->row[found] = (struct function_row){ .row = row, .function = function, .rate = -1 };
	functions->row[found + 1] = (struct function_row){ .rate = -1 };
	memory_hash(&functions->by_name, hash_of(row->name, row->library), found);
	functions->shown++;
	map->number[function->number] = found + 1;
	return found;
}

/* ---- JSON ---- */

/* Eight buckets for each power of two; below 8 ns each has its own. */
static uint32_t bucket_of(uint64_t ns)
{
	uint32_t power = ns < 8 ? 3 : 63 - (uint32_t)__builtin_clzll(ns);

	return (power - 3) * 8 + (uint32_t)(ns >> (power - 3));
}

static void write_histogram(FILE *to, const struct page_functions *functions, const struct xaudit_read_row *row)
{
	size_t count = row->timed ? xaudit_read_profile_buckets(functions->profile, row, NULL, 0) : 0;
	struct xaudit_read_bucket *bucket = memory_zeroed(count + 1, sizeof(*bucket));
	uint32_t at = 0;
	uint64_t sum = 0;

	if (count)
		xaudit_read_profile_buckets(functions->profile, row, bucket, count);
	fputs(",\"hist\":[", to);
	for (size_t i = 0; i < count; i++) {
		uint32_t next = bucket_of(bucket[i].low);
		if (!i)
			fprintf(to, "%" PRIu32, at = next);
		for (; at < next; at++, sum = 0)
			fprintf(to, ",%" PRIu64, sum);
		sum += bucket[i].count;
	}
	fprintf(to, count ? ",%" PRIu64 "]" : "]", sum);
	free(bucket);
}

static uint64_t if_timed(const struct xaudit_read_row *row, uint64_t number)
{
	return row->timed ? number : UINT64_MAX;
}

static uint64_t percentile(const struct page_functions *functions, const struct xaudit_read_row *row, double percent)
{
	return row->timed ? xaudit_read_profile_percentile(functions->profile, row, percent) : UINT64_MAX;
}

static void write_times(FILE *to, const struct page_functions *functions, const struct xaudit_read_row *row)
{
	html_number(to, ",", "min", if_timed(row, row->min));
	html_number(to, ",", "max", if_timed(row, row->max));
	html_number(to, ",", "avg", row->timed ? row->sum / row->timed : UINT64_MAX);
	html_number(to, ",", "stddev", if_timed(row, (uint64_t)(sqrt(row->variance) + 0.5)));
	html_number(to, ",", "p50", percentile(functions, row, 50));
	html_number(to, ",", "p90", percentile(functions, row, 90));
	html_number(to, ",", "p99", percentile(functions, row, 99));
	html_number(to, ",", "cpu", if_timed(row, row->cpu));
	html_number(to, ",", "cpu_self", if_timed(row, row->cpu_self));
	html_number(to, ",", "cpu_unknown", row->cpu_unknown);
}

static void write_row(FILE *to, const struct page_functions *functions, const struct function_row *own, uint64_t start)
{
	const struct xaudit_read_row *row = own->row;
	const char *shown = names_demangled(row->name);

	html_member(to, "\n{", "name", row->name);
	if (shown)
		html_member(to, ",", "shown", shown);
	html_member(to, ",", "library", row->library);
	html_member(to, ",", "kind", own->function ? xaudit_read_kind_word(own->function->kind) : NULL);
	if (*row->aliases) {
		fputs(",\"aliases\":[", to);
		for (const char *name = row->aliases; *name; name += strlen(name) + 1) {
			fputs(name == row->aliases ? "" : ",", to);
			html_string(to, name);
		}
		putc(']', to);
	}
	html_number(to, ",", "calls", row->calls);
	html_number(to, ",", "counted", row->counted);
	html_number(to, ",", "timed", row->timed);
	html_number(to, ",", "total", row->total);
	html_number(to, ",", "self", row->self);
	write_times(to, functions, row);
	html_number(to, ",", "max_start", if_timed(row, html_after(start, row->max_start)));
	uint32_t place = own->longest ? own->longest->place : TRACKS_NONE;
	html_number(to, ",", "max_track", place == TRACKS_NONE ? UINT64_MAX : place);
	html_number(to, ",", "throttled", row->throttled ? html_after(start, row->throttled) : UINT64_MAX);
	write_histogram(to, functions, row);
	putc('}', to);
}

void page_functions_write(const struct page_functions *functions, struct blocks *blocks, uint64_t start)
{
	struct html_memory memory;
	uint64_t calls = 0, total = 0, self = 0;

	html_open(&memory);
	fputs("{\"functions\":[", memory.to);
	for (uint32_t i = 0; i < functions->shown; i++) {
		fputs(i ? "," : "", memory.to);
		write_row(memory.to, functions, &functions->row[i], start);
	}
	fputs("\n],\"others\":", memory.to);
	for (uint32_t i = functions->shown; i < functions->rows; i++) {
		const struct xaudit_read_row *row = xaudit_read_profile_row(functions->profile, i);
		calls += row->calls;
		total += row->total;
		self += row->self;
	}
	if (functions->shown < functions->rows) {
		html_number(memory.to, "{", "functions", functions->rows - functions->shown);
		html_number(memory.to, ",", "calls", calls);
		html_number(memory.to, ",", "total", total);
		html_number(memory.to, ",", "self", self);
		fputs("}}", memory.to);
	} else {
		fputs("null}", memory.to);
	}
	html_close(&memory);
	blocks_add(blocks, "functions", memory.text, memory.size);
}
