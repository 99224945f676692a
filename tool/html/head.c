/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/html/head.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config.h"
#include "tool/base/format.h"
#include "tool/base/lost.h"
#include "tool/base/memory.h"
#include "tool/html/flame.h"
#include "tool/html/pyramid.h"
#include "tool/html/survey.h"
#include "tool/html/text.h"
#include "tool/html/windows.h"

/* Bytes of blocks: a page has a third more, as base64. */
#define PAGE_MOST 17500000u

#define DETAILED 200u /* processes whose records are read for notes and the like */

/* ---- what is missing ---- */

struct left {
	FILE *to;
	bool any;
};

static __attribute__((format(printf, 2, 3))) void say(struct left *left, const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	text = memory_need(format_text(format, args));
	va_end(args);
	fputs(left->any ? "," : "", left->to);
	html_string(left->to, text);
	left->any = true;
	free(text);
}

static void say_unfinished(struct left *left, const struct xaudit_read_sums *sums)
{
	if (sums->unfinished)
		say(left, "%" PRIu64 " call%s no end in the trace: open at its end, or where events were lost",
			sums->unfinished, sums->unfinished == 1 ? " has" : "s have");
	if (sums->off)
		say(left, "%" PRIu64 " call%s no time: recording was switched off meanwhile", sums->off,
			sums->off == 1 ? " has" : "s have");
	if (sums->points)
		say(left, "%" PRIu64 " call%s traced at the entry only: without time", sums->points,
			sums->points == 1 ? " was" : "s were");
	if (sums->orphans)
		say(left, "%" PRIu64 " return%s of calls that are not in the trace", sums->orphans,
			show_s(sums->orphans));
	if (sums->inherited)
		say(left, "%" PRIu64 " return%s, in forked processes, of calls that their parents began",
			sums->inherited, show_s(sums->inherited));
	if (sums->custom_unfinished)
		say(left, "%" PRIu64 " custom event%s not finished", sums->custom_unfinished,
			sums->custom_unfinished == 1 ? " was" : "s were");
	if (sums->overwritten)
		say(left, "the ring holds the newest events: %" PRIu64 " buffer%s before them overwritten",
			sums->overwritten, sums->overwritten == 1 ? " was" : "s were");
	if (sums->crashes)
		say(left, "%" PRIu64 " process%s ended by a signal, the last by signal %d", sums->crashes,
			sums->crashes == 1 ? "" : "es", sums->signal);
}

/* Events that were lost, by cause, over all processes. */
static uint64_t lost_by(struct html *html, uint64_t by[TRACE_LOST_ROOM])
{
	struct xaudit_read_process *process;
	uint64_t lost = 0;

	for (uint32_t i = 0; (process = xaudit_read_process(html->trace, i)); i++) {
		struct xaudit_read_amounts amounts = { .size = sizeof(amounts) };
		lost += xaudit_read_process_info(process)->lost;
		/* The causes are in heads: no events need be read. */
		if (!xaudit_read_process_info(process)->lost || !xaudit_read_process_amounts(process, 1, &amounts))
			continue;
		for (unsigned n = 0; n < XAUDIT_READ_CAUSES && n < TRACE_LOST_ROOM; n++)
			by[n] += amounts.lost_by[n];
	}
	return lost;
}

static void write_lost(FILE *to, const uint64_t by[TRACE_LOST_ROOM])
{
	struct lost_cause cause[TRACE_LOST_ROOM];
	unsigned causes = lost_causes(cause, by);

	fputs("\"lost\":[", to);
	for (unsigned i = 0; i < causes; i++) {
		html_member(to, i ? ",{" : "{", "why", cause[i].phrase);
		html_number(to, ",", "count", cause[i].events);
		putc('}', to);
	}
	fputs("],", to);
}

static void write_left(struct html *html, FILE *to)
{
	const struct survey *survey = html->survey;
	const struct xaudit_read_profile_info *profile = xaudit_read_profile_info(html->profile);
	uint64_t by[TRACE_LOST_ROOM] = { 0 }, lost = lost_by(html, by);
	struct xaudit_read_error error;
	struct left left = { .to = to };
	int coarse = xaudit_read_trace_info(html->trace)->coarse;

	write_lost(to, by);
	fputs("\"left\":[", to);
	if (lost)
		say(&left, "%" PRIu64 " event%s lost", lost, lost == 1 ? " was" : "s were");
	if (xaudit_read_damage(html->trace, &error))
		say(&left, "a part of the trace can't be read: %s", error.text);
	say_unfinished(&left, &survey->sums);
	if (profile->counted)
		say(&left, "%" PRIu64 " call%s only counted: without time, and not in the timeline", profile->counted,
			profile->counted == 1 ? " was" : "s were");
	if (profile->cpu_unknown && html->cpu)
		say(&left, "of %" PRIu64 " call%s it is not known how long they were on processors",
			profile->cpu_unknown, show_s(profile->cpu_unknown));
	if (coarse)
		say(&left, "times are coarse: the clock was read for one event in %d of a thread", coarse);
	putc(']', to);
}

static void write_sums(FILE *to, const struct xaudit_read_sums *sums)
{
	html_number(to, ",\n\"sums\":{", "lost", sums->lost);
	html_number(to, ",", "unfinished", sums->unfinished);
	html_number(to, ",", "off", sums->off);
	html_number(to, ",", "points", sums->points);
	html_number(to, ",", "counted", sums->counted);
	html_number(to, ",", "orphans", sums->orphans);
	html_number(to, ",", "inherited", sums->inherited);
	html_number(to, ",", "overwritten", sums->overwritten);
	html_number(to, ",", "customs", sums->customs);
	html_number(to, ",", "custom_unfinished", sums->custom_unfinished);
	html_number(to, ",", "crashes", sums->crashes);
	html_number(to, ",", "signal", (uint64_t)sums->signal);
	putc('}', to);
}

/* ---- of what ---- */

static void write_info(struct html *html, FILE *to)
{
	const struct xaudit_read_trace_info *info = xaudit_read_trace_info(html->trace);
	struct xaudit_read_process *process = xaudit_read_process(html->trace, 0);
	const struct xaudit_read_process_info *first = process ? xaudit_read_process_info(process) : NULL;

	html_member(to, ",\n\"info\":{", "path", info->path);
	html_member(to, ",", "command", info->command ? info->command : first ? first->command : NULL);
	html_member(to, ",", "status", info->status);
	html_member(to, ",", "version", info->version);
	html_member(to, ",", "host", first ? first->host : NULL);
	html_member(to, ",", "exe", first ? first->exe : NULL);
	fprintf(to, ",\"coarse\":%d,\"sched\":%s,", info->coarse, info->sched ? "true" : "false");
	write_left(html, to);
	write_sums(to, &html->survey->sums);
	putc('}', to);
}

static void write_details(FILE *to, struct xaudit_read_process *process)
{
	const struct xaudit_read_facts *facts = memory_need((void *)(uintptr_t)xaudit_read_process_facts(process));
	uint64_t cpu;
	int known = xaudit_read_process_cpu(process, 0, &cpu);

	html_member(to, ",", "state", xaudit_read_state_word(xaudit_read_process_state(process)));
	html_member(to, ",", "module", facts->module);
	html_member(to, ",", "rules", facts->rules);
	html_number(to, ",", "cpu_ns", known ? cpu : UINT64_MAX);
	fputs(",\"notes\":[", to);
	for (uint32_t i = 0; i < facts->notes; i++) {
		fputs(i ? "," : "", to);
		html_string(to, facts->note[i]);
	}
	putc(']', to);
}

static void write_processes(struct html *html, FILE *to)
{
	struct xaudit_read_process *process;

	fputs(",\n\"processes\":[", to);
	for (uint32_t i = 0; (process = xaudit_read_process(html->trace, i)); i++) {
		const struct xaudit_read_process_info *info = xaudit_read_process_info(process);
		html_number(to, i ? ",\n{" : "{", "pid", info->pid);
		html_number(to, ",", "parent", info->parent);
		html_member(to, ",", "name", info->name);
		html_member(to, ",", "exe", info->exe);
		html_member(to, ",", "command", info->command);
		html_member(to, ",", "host", info->host);
		html_number(to, ",", "start", html_after(html->start, info->start));
		html_number(to, ",", "end", html_after(html->start, info->end));
		html_number(to, ",", "lost", info->lost);
		html_number(to, ",", "threads", info->threads);
		if (i < DETAILED)
			write_details(to, process);
		putc('}', to);
	}
	putc(']', to);
}

static void write_filters(const struct html *html, FILE *to)
{
	const struct view_options *only = &html->options;

	html_number(to, ",\n\"filters\":{", "pid", only->show.pid ? only->show.pid : UINT64_MAX);
	html_number(to, ",", "tid", only->tid ? only->tid : UINT64_MAX);
	html_number(to, ",", "from_ns", only->from ? only->from : UINT64_MAX);
	html_number(to, ",", "to_ns", only->to ? only->to : UINT64_MAX);
	html_member(to, ",", "around", html->around);
	fprintf(to, ",\"values\":%s}", only->show.no_values ? "false" : "true");
}

/* Moments of the trace, as texts: they are larger than numbers of JavaScript are exact. */
static void write_moments(const struct html *html, FILE *to)
{
	const struct xaudit_read_trace_info *info = xaudit_read_trace_info(html->trace);
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	fprintf(to, ",\"made_real_ns\":\"%" PRIu64 "\",\"start_ns\":\"%" PRIu64 "\"",
		(uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, html->start);
	if (info->start_real)
		fprintf(to, ",\"start_real_ns\":\"%" PRIu64 "\"", info->start_real);
	else
		fputs(",\"start_real_ns\":null", to);
}

static void write_totals(const struct html *html, FILE *to)
{
	html_number(to, ",\n\"totals\":{", "calls", html->survey->calls);
	html_number(to, ",", "events", html->survey->events);
	html_number(to, ",", "functions", html->functions.rows);
	html_number(to, ",", "tracks", html->tracks.count);
	html_number(to, ",", "rows", html->tracks.rows);
	putc('}', to);
}

static void write_blocks(const struct blocks *blocks, FILE *to)
{
	fputs(",\n\"blocks\":[", to);
	for (uint32_t i = 0; i < blocks->count; i++)
		fprintf(to, "%s[\"%s\",%zu,%zu]", i ? "," : "", blocks->block[i].name, blocks->block[i].packed,
			blocks->block[i].size);
	putc(']', to);
}

void head_write(struct html *html, FILE *to)
{
	struct survey *survey = html->survey;

	fprintf(to, "{\"format\":%d", HEAD_FORMAT);
	html_member(to, ",", "xaudit", PACKAGE_VERSION);
	write_moments(html, to);
	fprintf(to, ",\"range\":[%" PRIu64 ",%" PRIu64 "]", survey->from, survey->to);
	write_filters(html, to);
	write_info(html, to);
	write_totals(html, to);
	write_processes(html, to);
	fputs(",\n", to);
	page_flame_write(html->flame, html, to);
	page_functions_write(&html->functions, &html->blocks, html->start);
	lanes_write(&survey->lanes, html);
	fputs(",\n", to);
	survey_write_rates(html, to);
	fputs(",\n\"outliers\":", to);
	picks_write(&survey->outliers, &html->functions, to);
	fputs(",\n\"slowest\":", to);
	picks_write(&survey->slowest, &html->functions, to);
	fputs(",\n\"around\":", to);
	if (html->around)
		picks_write(&survey->around, &html->functions, to);
	else
		fputs("null", to);
	fputs(",\n", to);
	windows_write(html->windows, &html->blocks, to);
	fputs(",\n", to);
	blocks_pack(&html->blocks);
	pyramid_write(html->pyramid, &html->blocks,
		html->blocks.packed < PAGE_MOST ? PAGE_MOST - html->blocks.packed : 0, to);
	fputs(",\n", to);
	page_tracks_write(&html->tracks, to);
	write_blocks(&html->blocks, to);
	putc('}', to);
}
