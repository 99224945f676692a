/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "tool/json.h"
#include "tool/show/report/report.h"

static void print_time(const char *key, const struct report_line *line, uint64_t ns)
{
	if (line->row->timed)
		printf("\"%s\":%" PRIu64 ",", key, ns);
	else
		printf("\"%s\":null,", key);
}

static void print_cpu(const struct xaudit_read_row *row)
{
	if (row->cpu == XAUDIT_READ_UNKNOWN)
		printf("\"cpu_ns\":null,\"cpu_self_ns\":null,\"cpu_unknown\":%" PRIu64 ",", row->cpu_unknown);
	else
		printf("\"cpu_ns\":%" PRIu64 ",\"cpu_self_ns\":%" PRIu64 ",", row->cpu, row->cpu_self);
}

/* Writes nothing if there are no custom events. */
static void print_events(const struct report *report)
{
	const struct xaudit_read_profile_info *info = report->info;

	if (info->customs)
		printf(",\"custom_events\":[");
	for (uint32_t i = 0; i < info->customs && !show_output_broken(); i++) {
		const struct xaudit_read_custom *row = xaudit_read_profile_custom(report->profile, i);
		printf("%s\n{\"type\":", i ? "," : "");
		json_string(stdout, row->type);
		if (!row->type)
			printf(",\"type_number\":%" PRIu32, row->number);
		printf(",\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", row->count, row->bytes);
	}
	if (info->customs)
		printf("\n]");
	if (info->customs_unfinished)
		printf(",\"custom_unfinished\":%" PRIu64, info->customs_unfinished);
}

static void print_name(const struct report *report, const struct xaudit_read_row *row)
{
	switch (report->by) {
	case XAUDIT_READ_BY_FUNCTION:
		printf("\"function\":");
		json_string(stdout, row->name);
		names_json(stdout, row->name);
		putchar(',');
		/* fall through */
	case XAUDIT_READ_BY_LIBRARY:
		printf("\"library\":");
		json_string(stdout, row->library);
		break;
	case XAUDIT_READ_BY_THREAD:
		printf("\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"name\":", row->pid, row->tid);
		json_string(stdout, row->name);
		break;
	}
}

void report_json_print(const struct report *report)
{
	static const char *const list[] = { "functions", "libraries", "threads" };
	const struct xaudit_read_profile_info *info = report->info;

	printf("{\"lost\":%" PRIu64 ",\"unfinished\":%" PRIu64 ",\"%s\":[", info->lost, info->unfinished,
		list[report->by]);
	for (uint32_t i = 0; i < report->lines && !show_output_broken(); i++) {
		const struct report_line *line = &report->line[i];
		const struct xaudit_read_row *row = line->row;

		printf("%s\n{", i ? "," : "");
		print_name(report, row);
		printf(",\"calls\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"self_ns\":%" PRIu64 ",", row->calls,
			row->total, row->self);
		if (info->sched)
			print_cpu(row);
		print_time("min_ns", line, row->min);
		print_time("p50_ns", line, line->p50);
		print_time("p90_ns", line, line->p90);
		print_time("p99_ns", line, line->p99);
		print_time("max_ns", line, row->max);
		printf("\"counted\":%" PRIu64, row->counted);
		if (report->by == XAUDIT_READ_BY_FUNCTION && row->throttled)
			printf(",\"throttled_ns\":%" PRIu64, row->throttled);
		putchar('}');
	}
	printf("\n],\"counted\":%" PRIu64 ",\"no_end\":%" PRIu64 ",\"orphans\":%" PRIu64, info->counted, info->no_end,
		info->orphans);
	if (info->inherited)
		printf(",\"inherited\":%" PRIu64, info->inherited);
	printf(",\"overwritten_chunks\":%" PRIu64 ",\"crash_signal\":", info->overwritten);
	if (info->crashes)
		printf("%d", info->signal);
	else
		printf("null");
	print_events(report);
	puts("}");
}
