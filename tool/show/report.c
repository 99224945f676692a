/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/* xaudit report: calls and times per function, library or thread. report_count.h tells what is counted, and how. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/show/event_text.h"
#include "tool/json.h"
#include "tool/memory.h"
#include "tool/show/open.h"
#include "tool/show/show.h"
#include "tool/show/report_count.h"
#include "tool/tool.h"

enum sort { SORT_CALLS, SORT_TOTAL, SORT_SELF, SORT_AVG, SORT_MAX };


/* A row with its times in ns. */
struct line {
	const struct count_row *row;
	bool timed; /* at least one call ended: min to max mean something */
	uint64_t calls, total, self, min, p50, p90, p99, max, avg;
	uint64_t key;
};

static const char *text_or(const char *text, const char *other)
{
	return text && *text ? text : other;
}

/* Falling by the key; equal rows in an order that does not depend on the order in the trace. */
static int by_key(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	order = strcmp(text_or(x->row->name, ""), text_or(y->row->name, ""));
	if (!order)
		order = strcmp(text_or(x->row->library, ""), text_or(y->row->library, ""));
	if (!order)
		order = x->row->tid < y->row->tid ? -1 : x->row->tid > y->row->tid;
	return order;
}

static uint64_t percentile(const struct counter *c, const struct count_row *row, double percent)
{
	uint64_t value = histogram_percentile(&row->time, percent);

	value = value < row->min ? row->min : value > row->max ? row->max : value;
	return read_clock_span(&c->unit, value);
}

static struct line *make_lines(const struct counter *c, enum sort sort, uint32_t *count)
{
	struct line *line = memory_zeroed(c->rows, sizeof(*line));
	uint32_t n = 0;

	for (uint32_t i = 1; i < c->rows; i++) {
		const struct count_row *row = &c->row[i];
		uint64_t ended = histogram_count(&row->time);
		struct line *to = &line[n];

		if (!row->calls)
			continue; /* only ends of calls that began before the trace */
		n++;
		*to = (struct line){ .row = row, .timed = ended > 0, .calls = row->calls };
		if (ended) {
			to->total = read_clock_span(&c->unit, row->total);
			to->self = read_clock_span(&c->unit, row->self);
			to->min = read_clock_span(&c->unit, row->min);
			to->p50 = percentile(c, row, 50);
			to->p90 = percentile(c, row, 90);
			to->p99 = percentile(c, row, 99);
			to->max = read_clock_span(&c->unit, row->max);
			to->avg = read_clock_span(&c->unit, row->sum / ended);
		}
		to->key = sort == SORT_CALLS ? to->calls :
			sort == SORT_TOTAL   ? to->total :
			sort == SORT_SELF    ? to->self :
			sort == SORT_AVG     ? to->avg :
					       to->max;
	}
	qsort(line, n, sizeof(*line), by_key);
	*count = n;
	return line;
}

/* ---- table ---- */

static void print_time(const struct line *line, uint64_t ns)
{
	char buf[SHOW_TIME_SIZE];

	printf("  %11s", line->timed ? show_time(buf, ns) : "-");
}

static void print_heads(enum count_by by, enum sort sort, const struct show_colors *color)
{
	static const char *const what[] = { "Function", "Library", "Thread" };
	static const char rule[] = "===========";

	printf("%s%10s  %11s  %11s  %11s", color->head, "Calls", "Total", "Self", "Min");
	if (sort == SORT_AVG)
		printf("  %11s", "Average");
	printf("  %11s  %11s  %11s  %s%s\n%.10s", "Median", "P99", "Max", what[by], color->off, rule);
	for (int i = 0; i < 6 + (sort == SORT_AVG); i++)
		printf("  %s", rule);
	printf("  ====================\n");
}

static void print_name(const struct line *line, enum count_by by, const struct show_colors *color)
{
	const struct count_row *row = line->row;
	char buf[SHOW_TIME_SIZE];

	switch (by) {
	case COUNT_BY_FUNCTION:
		printf("  %s", color->name);
		tool_text(stdout, row->name);
		printf("%s %s[", color->off, color->dim);
		tool_text(stdout, read_path_base(row->library));
		printf("]%s", color->off);
		if (row->throttled)
			printf(" %s(times until %s, then only counted)%s", color->warn,
				show_time(buf, row->throttled_after), color->off);
		putchar('\n');
		break;
	case COUNT_BY_LIBRARY:
		printf("  %s", color->name);
		tool_text(stdout, row->library);
		printf("%s\n", color->off);
		break;
	case COUNT_BY_THREAD:
		printf("  %" PRIu32 " %s", row->tid, color->name);
		tool_text(stdout, text_or(row->name, ""));
		printf("%s %s[process %" PRIu32 "]%s\n", color->off, color->dim, row->pid, color->off);
		break;
	}
}

/* A second table, of custom events, if there are any. */
static void print_events(const struct event_counter *c, const struct show_colors *color)
{
	if (!c->rows)
		return;
	printf("\n%s%10s  %11s  %s%s\n==========  ===========  ====================\n", color->head, "Events", "Bytes",
		"Type", color->off);
	for (uint32_t i = 0; i < c->rows && !show_output_broken(); i++) {
		const struct event_row *row = &c->row[i];
		printf("%10" PRIu64 "  %11" PRIu64 "  %s", row->count, row->bytes, color->name);
		event_type(stdout, row->name, row->number);
		printf("%s\n", color->off);
	}
}

/* Lines about what the numbers leave out. */
static void print_remarks(const struct counter *c, const struct show_colors *color)
{
	printf("\n%s%" PRIu64 " events lost%s, %" PRIu64 " calls unfinished\n", c->lost ? color->warn : "", c->lost,
		c->lost ? color->off : "", c->unfinished);
	if (c->points)
		printf("%" PRIu64 " calls were traced at the entry only: they have no time\n", c->points);
	if (c->counted)
		printf("%" PRIu64 " calls were only counted: they have no time\n", c->counted);
	if (c->no_end)
		printf("%" PRIu64 " calls have no time: recording of functions was switched off in them\n", c->no_end);
	if (c->orphans)
		printf("%" PRIu64 " returns of calls that are not in the trace were left out\n", c->orphans);
	if (c->inherited)
		printf("%" PRIu64 " returns in forked processes of calls that their parents began were left out\n",
			c->inherited);
	if (c->events.unfinished)
		printf("%" PRIu64 " custom events were not finished: they were left out\n", c->events.unfinished);
	if (c->overwritten)
		printf("the flight recorder holds the newest events: %" PRIu64 " chunks before them were overwritten\n",
			c->overwritten);
	if (c->crashes)
		printf("%sthe process ended by signal %d%s\n", color->warn, c->signal, color->off);
}

static void print_table(const struct counter *c, const struct line *line, uint32_t lines, enum sort sort,
	const struct show_colors *color)
{
	print_heads(c->by, sort, color);
	for (uint32_t i = 0; i < lines && !show_output_broken(); i++) {
		printf("%10" PRIu64, line[i].calls);
		print_time(&line[i], line[i].total);
		print_time(&line[i], line[i].self);
		print_time(&line[i], line[i].min);
		if (sort == SORT_AVG)
			print_time(&line[i], line[i].avg);
		print_time(&line[i], line[i].p50);
		print_time(&line[i], line[i].p99);
		print_time(&line[i], line[i].max);
		print_name(&line[i], c->by, color);
	}
	print_events(&c->events, color);
	print_remarks(c, color);
}

/* ---- JSON ---- */

static void json_time(const char *key, const struct line *line, uint64_t ns, const char *behind)
{
	if (line->timed)
		printf("\"%s\":%" PRIu64 "%s", key, ns, behind);
	else
		printf("\"%s\":null%s", key, behind);
}

/* Writes nothing if there are no custom events. */
static void json_events(const struct event_counter *c)
{
	if (c->rows)
		printf(",\"custom_events\":[");
	for (uint32_t i = 0; i < c->rows && !show_output_broken(); i++) {
		const struct event_row *row = &c->row[i];
		printf("%s\n{\"type\":", i ? "," : "");
		json_string(stdout, row->name);
		if (!row->name)
			printf(",\"type_number\":%" PRIu32, row->number);
		printf(",\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", row->count, row->bytes);
	}
	if (c->rows)
		printf("\n]");
	if (c->unfinished)
		printf(",\"custom_unfinished\":%" PRIu64, c->unfinished);
}

static void print_json(const struct counter *c, const struct line *line, uint32_t lines)
{
	static const char *const list[] = { "functions", "libraries", "threads" };

	printf("{\"lost\":%" PRIu64 ",\"unfinished\":%" PRIu64 ",\"%s\":[", c->lost, c->unfinished, list[c->by]);
	for (uint32_t i = 0; i < lines && !show_output_broken(); i++) {
		const struct count_row *row = line[i].row;

		printf("%s\n{", i ? "," : "");
		switch (c->by) {
		case COUNT_BY_FUNCTION:
			printf("\"function\":");
			json_string(stdout, row->name);
			putchar(',');
			/* fall through */
		case COUNT_BY_LIBRARY:
			printf("\"library\":");
			json_string(stdout, row->library);
			break;
		case COUNT_BY_THREAD:
			printf("\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"name\":", row->pid, row->tid);
			json_string(stdout, row->name);
			break;
		}
		printf(",\"calls\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"self_ns\":%" PRIu64 ",", line[i].calls,
			line[i].total, line[i].self);
		json_time("min_ns", &line[i], line[i].min, ",");
		json_time("p50_ns", &line[i], line[i].p50, ",");
		json_time("p90_ns", &line[i], line[i].p90, ",");
		json_time("p99_ns", &line[i], line[i].p99, ",");
		json_time("max_ns", &line[i], line[i].max, ",");
		printf("\"counted\":%" PRIu64, row->counted);
		if (c->by == COUNT_BY_FUNCTION && row->throttled)
			printf(",\"throttled_ns\":%" PRIu64, row->throttled);
		putchar('}');
	}
	printf("\n],\"counted\":%" PRIu64 ",\"no_end\":%" PRIu64 ",\"orphans\":%" PRIu64, c->counted, c->no_end,
		c->orphans);
	if (c->inherited)
		printf(",\"inherited\":%" PRIu64, c->inherited);
	printf(",\"overwritten_chunks\":%" PRIu64 ",\"crash_signal\":", c->overwritten);
	if (c->crashes)
		printf("%d", c->signal);
	else
		printf("null");
	json_events(&c->events);
	puts("}");
}

struct own {
	struct show_options options;
	int sort, by; /* enum sort, count_by */
};

static const struct options_row rows[] = {
	{ 0, "sort", "KEY", "by calls, total (default), self, avg, or max",
		.take = options_word, .at = offsetof(struct own, sort), .allowed = "calls, total, self, avg or max" },
	{ 0, "by", "WHAT", "a line per function (default), library, or thread",
		.take = options_word, .at = offsetof(struct own, by), .allowed = "function, library or thread" },
	SHOW_FORMAT("table or json", "table (default) or json"),
	SHOW_ROWS
};

static const struct options_syntax syntax = {
	.command = "report",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit report [OPTION]... [DIR]\n"
		"Shows calls and times per function from the trace in DIR (default: xaudit.data).\n"
		"\n"
		"Options:\n",
	.tail = "\n"
		"Times: total counts a recursive call once, self leaves out traced calls in between,\n"
		"the others are of single calls from entry to return.\n",
};

int report_main(int argc, char **argv)
{
	struct own own = { .sort = SORT_TOTAL, .by = COUNT_BY_FUNCTION };
	int status = show_begin(&own.options, &syntax, argc, argv);

	if (status >= 0)
		return status;

	struct read_folder *folder = show_open(own.options.dir, own.options.pid);
	enum sort sort = (enum sort)own.sort;
	struct counter counter;
	struct line *line;
	uint32_t lines;

	if (!folder)
		return TOOL_FAILED;
	count_folder(&counter, folder, (enum count_by)own.by);
	show_need_memory(folder);
	line = make_lines(&counter, sort, &lines);
	if (own.options.json)
		print_json(&counter, line, lines);
	else
		print_table(&counter, line, lines, sort, show_colors(&own.options));
	if (!own.options.json)
		show_say_coarse(folder, "");
	free(line);
	count_free(&counter);
	return show_end(folder);
}
