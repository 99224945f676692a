/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/calls/hits.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/probe_text.h"
#include "tool/show/term/term.h"
#include "tool/show/values.h"

static char *text_of(const struct xaudit_read_values *values)
{
	char *text = NULL;
	size_t size;

	if (!values)
		return NULL;
	FILE *to = memory_need(open_memstream(&text, &size));
	values_list(to, values, UINT32_MAX);
	if (fclose(to))
		memory_failed();
	return memory_need(text);
}

/* Where the one of this number is kept, or the one that it takes the place of. */
static uint32_t place_of(const struct hits *hits, uint64_t number)
{
	uint32_t half = hits->most / 2;

	return number < half ? (uint32_t)number : half + (uint32_t)((number - half) % (hits->most - half));
}

void hits_take(struct hits *hits, const struct xaudit_read_item *item)
{
	uint32_t place = place_of(hits, hits->all);

	if (!hits->hit)
		hits->hit = memory_zeroed(hits->most, sizeof(*hits->hit));
	free(hits->hit[place].values);
	hits->hit[place] = (struct hit){ item->time, item->probe, text_of(item->values) };
	hits->all++;
}

/* The number of the one that is shown after `number`. */
static uint64_t next(const struct hits *hits, uint64_t number)
{
	uint32_t half = hits->most / 2;

	return number + 1 == half && hits->all > hits->most ? hits->all - (hits->most - half) : number + 1;
}

static uint64_t after(const struct hit *hit, uint64_t start)
{
	return hit->time > start ? hit->time - start : 0;
}

static void print_left(const struct hits *hits, uint64_t number, const char *before)
{
	uint64_t left = next(hits, number) - number - 1;

	if (left)
		printf("%s... %" PRIu64 " more ...\n", before, left);
}

static void print_hit(const struct hit *hit, const struct show_colors *color)
{
	fputs(color->name, stdout);
	tool_text(stdout, hit->probe->name);
	fputs(color->off, stdout);
	if (hit->values)
		term_text(stdout, hit->values);
	printf("  %s", color->dim);
	probe_place(stdout, hit->probe);
	probe_source(stdout, hit->probe);
	fputs(color->off, stdout);
}

void hits_table(const struct hits *hits, uint64_t start, const struct show_colors *color)
{
	char buf[SHOW_TIME_SIZE];

	if (hits->all)
		printf("\n%s%11s  %s%s\n===========  ====================\n", color->head, "After", "Probe",
			color->off);
	for (uint64_t i = 0; i < hits->all && !show_output_broken(); i = next(hits, i)) {
		const struct hit *hit = &hits->hit[place_of(hits, i)];

		printf("%11s  ", show_time_column(buf, after(hit, start)));
		print_hit(hit, color);
		putchar('\n');
		print_left(hits, i, "             ");
	}
}

void hits_lines(const struct hits *hits, uint64_t start, const char *before, const struct show_colors *color)
{
	char buf[SHOW_TIME_SIZE];

	for (uint64_t i = 0; i < hits->all && !show_output_broken(); i = next(hits, i)) {
		const struct hit *hit = &hits->hit[place_of(hits, i)];

		printf("%safter %s probe ", before, show_time(buf, after(hit, start)));
		print_hit(hit, color);
		putchar('\n');
		print_left(hits, i, before);
	}
}

void hits_json(const struct hits *hits, uint64_t start)
{
	if (!hits->all)
		return;
	printf(",\"probe_events\":%" PRIu64 ",\"probes\":[", hits->all);
	for (uint64_t i = 0; i < hits->all && !show_output_broken(); i = next(hits, i)) {
		const struct hit *hit = &hits->hit[place_of(hits, i)];

		printf("%s\n {\"after_ns\":%" PRIu64 ",", i ? "," : "", after(hit, start));
		probe_json(stdout, hit->probe);
		if (hit->values) {
			fputs(",\"values\":", stdout);
			json_string(stdout, hit->values);
		}
		putchar('}');
	}
	printf("\n]");
}

void hits_free(struct hits *hits)
{
	for (uint64_t i = 0; hits->hit && i < hits->most; i++)
		free(hits->hit[i].values);
	free(hits->hit);
	*hits = (struct hits){ .most = hits->most };
}
