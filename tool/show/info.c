/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/* xaudit info: what was recorded, what was not, and why. */
#include "tool/show/info.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "format/trace.h"
#include "tool/base/lost.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/info_json.h"
#include "tool/show/info_many.h"
#include "tool/show/info_sched.h"
#include "tool/show/probe_text.h"
#include "tool/show/show.h"
#include "tool/show/show_trace.h"

#define FEW 10 /* processes that are shown one by one */

const char *info_record_reason(uint32_t error)
{
	switch (error) {
	case 0:
		return NULL;
	case EAGAIN:
		return "xaudit record did not answer in time";
	case ECONNREFUSED:
		return "xaudit record had ended, or was out of reach (network or user namespace)";
	case ECONNRESET:
	case EPIPE:
	case EPROTO:
		return "xaudit record broke off: it ended, or did not know the process";
	case EOPNOTSUPP:
		return "xaudit record was not asked, since a filter of system calls could have killed for that";
	case ESTALE:
		return "xaudit record found another folder in its place";
	case ENOENT:
		return "xaudit record found no folder of it either";
	default:
		return "xaudit record gave no other file";
	}
}

uint64_t info_private(const struct xaudit_read_process_object *object)
{
	return (uint64_t)object->patched_pages * 4096;
}

/* ---- text ---- */

static void line(const char *key, const char *value)
{
	if (!value || !*value)
		return;
	printf("%-11s ", key);
	tool_text(stdout, value);
	putchar('\n');
}

static void print_clock(const struct xaudit_read_head *head)
{
	if (!head->clock_tsc) {
		puts("Clock       CLOCK_MONOTONIC, since the TSC could not be used");
		return;
	}
	printf("Clock       TSC, ");
	if (!head->clock_known) {
		puts("of unknown frequency: a tick is shown as 1 ns");
		return;
	}
	printf("%.6f GHz by %" PRIu32 " pairs%s, within ", head->clock_hz / 1e9, head->clock_pairs,
		head->clock_fresh ? " (one taken now)" : "");
	/* %g changes to exponents when its digits are too few. */
	printf(head->clock_ppm < 99.5 ? "%.2g ppm\n" : "%.0f ppm\n", head->clock_ppm);
}

/* Of the whole trace, or of a process: then only the bytes are known that it has where it is not packed. */
static void print_amounts(const struct info *info, const struct xaudit_read_amounts *amounts, const char *indent)
{
	uint64_t disk = info->file && amounts == &info->all ? info->file : amounts->disk;

	printf("%sThreads     %" PRIu64 "\n", indent, amounts->threads);
	printf("%sEvents      %" PRIu64 " in %" PRIu64 " bytes", indent, amounts->events, disk);
	if (!info->file)
		printf(" on disk");
	else if (amounts == &info->all)
		printf(" on disk (%" PRIu64 " unpacked)", amounts->disk);
	else
		printf(" unpacked");
	if (amounts->events)
		printf(", %.2f bytes per event", (double)disk / (double)amounts->events);
	printf("\n%sLost        %" PRIu64 "\n", indent, amounts->lost);
	char *why = lost_words(amounts->lost_by);
	if (why)
		printf("%sWhy lost    %s\n", indent, why);
	free(why);
	if (amounts->counted)
		printf("%sCounted     %" PRIu64 " calls without time\n", indent, amounts->counted);
	if (amounts->custom)
		printf("%sCustom      %" PRIu64 " events, %" PRIu64 " bytes of data\n", indent, amounts->custom,
			amounts->custom_bytes);
	if (amounts->probes)
		printf("%sAt probes   %" PRIu64 " events\n", indent, amounts->probes);
	if (amounts->unfinished)
		printf("%sUnfinished  %" PRIu64 " custom events\n", indent, amounts->unfinished);
	if (amounts->overwritten)
		printf("%sOverwritten %" PRIu64 " buffers: the ring holds the newest events\n", indent,
			amounts->overwritten);
}

/* "8.0 MiB" */
static void print_size(uint64_t bytes)
{
	if (bytes >= 1u << 20)
		printf("%.1f MiB", (double)bytes / (1u << 20));
	else
		printf("%" PRIu64 " kB", (bytes + 1023) / 1024);
}

static void print_mode(const struct xaudit_read_head *head)
{
	printf("  Mode        %s, %s", xaudit_read_mode_word(head->mode), head->recording ? "recording" : "stopped");
	if (head->ring_bytes) {
		printf("; a ring of ");
		print_size(head->ring_bytes);
		printf(" per thread in buffers of ");
		print_size(head->ring_chunk_bytes);
	}
	if (head->overflow == TRACE_OVERFLOW_DROP)
		printf("; events are dropped where the disk is too slow");
	putchar('\n');
	if (head->coarse)
		printf("  Times       coarse: the clock is read for one event in %" PRIu32 " of a thread\n",
			head->coarse);
	if (head->taken_back)
		printf("  Taken back  %" PRIu64 " calls that were shorter than the rules' time, or have none\n",
			head->taken_back);
}

/* Programs that the family executed, and that are not in the trace. */
static void print_executed(const struct info_process *of)
{
	const struct xaudit_read_executed *executed;

	for (uint32_t n = 0; (executed = xaudit_read_process_executed(of->process, n)); n++) {
		printf("  Executed    ");
		tool_text(stdout, *executed->name ? executed->name : "others");
		printf(", %" PRIu64 " time%s, untraced%s%s\n", executed->count, executed->count == 1 ? "" : "s",
			*executed->word ? ": " : "", executed->word);
	}
}

static void print_changes(const struct info_process *of)
{
	char buf[SHOW_TIME_SIZE];

	for (uint32_t i = 0; i < of->facts->changes && !show_output_broken(); i++) {
		const struct xaudit_read_change *change = xaudit_read_process_change(of->process, i);
		printf("  Change      %12s  ", show_time_column(buf, change->after));
		show_change(stdout, change);
		putchar('\n');
	}
}

static void print_probes(const struct info_process *of, const struct show_colors *color)
{
	for (uint32_t i = 0; i < of->facts->probes && !show_output_broken(); i++) {
		const struct xaudit_read_probe *probe = xaudit_read_process_probe(of->process, i);
		printf("  Probe       %s", color->name);
		probe_text(stdout, probe, NULL);
		printf("%s  ", color->off);
		probe_place(stdout, probe);
		fputs("  ", stdout);
		tool_text(stdout, probe->object->path);
		putchar('\n');
	}
}

static void print_kinds(uint32_t kinds)
{
	const char *between = "";

	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		if (kinds >> kind & 1) {
			printf("%s%s", between, xaudit_read_kind_word(kind));
			between = " ";
		}
	}
	if (!*between)
		fputs("none", stdout);
}

static void print_object(const struct xaudit_read_process_object *object, const struct show_colors *color)
{
	printf("    %s", color->name);
	tool_text(stdout, object->path);
	printf("%s  ", color->off);
	print_kinds(object->kinds);
	if (object->role & XAUDIT_READ_PROGRAM)
		printf("  (the program)");
	if (object->role & XAUDIT_READ_LOADER)
		printf("  (the dynamic loader, never touched)");
	if (object->role & XAUDIT_READ_VDSO)
		printf("  (the vDSO, never touched)");
	putchar('\n');
	for (uint32_t i = 0; i < object->sites; i++) {
		const struct xaudit_read_sites *site = &object->site[i];
		const char *kind = xaudit_read_kind_word(site->kind), *reason = xaudit_read_reason_phrase(site->reason);
		if (site->count)
			printf("      %-9s %8" PRIu32 "  %s\n", kind ? kind : "?", site->count, reason ? reason : "?");
	}
	if (object->has_pages && object->site_pages)
		printf("      pages     %8" PRIu32 "  of code, %" PRIu32 " with sites, %" PRIu32 " patched: %" PRIu64
		       " kB private in each further process\n",
			object->text_pages, object->site_pages, object->patched_pages, info_private(object) / 1024);
}

static void print_process(
	const struct info *all, const struct info_process *of, const struct show_colors *color)
{
	const struct xaudit_read_process_info *info = of->info;
	const struct xaudit_read_head *head = of->head;
	const struct xaudit_read_facts *facts = of->facts;
	const struct xaudit_read_amounts *amounts = &of->amounts;

	printf("\n%sProcess %" PRIu32 "%s (", color->head, info->pid, color->off);
	tool_text(stdout, info->name);
	printf("), child of %" PRIu32 ": %s%s\n", info->parent,
		show_state_phrase(xaudit_read_process_state(of->process)), head->off ? ", switched off" : "");
	line("  Program", info->exe);
	line("  Command", info->command);
	line("  Module", facts->module);
	line("  Rules", facts->rules);
	print_mode(head);
	print_amounts(all, amounts, "  ");
	info_sched_process(all, of);
	if (amounts->lost && info_record_reason(head->record_error))
		line("  Why lost", info_record_reason(head->record_error));
	if (amounts->crashes)
		printf("  %sCrash       by signal %d%s\n", color->warn, amounts->signal, color->off);
	if (head->no_return)
		printf("  %" PRIu64 " returns could not be intercepted for want of a mirror\n", head->no_return);
	if (head->records_lost)
		printf("  %s%" PRIu64 " records of names and loads were lost%s\n", color->warn, head->records_lost,
			color->off);
	for (uint32_t i = 0; i < facts->notes; i++) {
		printf("  Note        ");
		tool_text(stdout, facts->note[i]);
		putchar('\n');
	}
	print_executed(of);
	print_changes(of);
	print_probes(of, color);
	printf("  Objects     %" PRIu32 ", %" PRIu64 " loads, %" PRIu64 " unloads\n", facts->objects, facts->loads,
		facts->unloads);
	for (uint32_t i = 0; i < facts->objects && !show_output_broken(); i++)
		print_object(xaudit_read_process_object(of->process, i), color);
}

static void print_text(const struct info *info, bool verbose, const struct show_colors *color)
{
	const struct xaudit_read_trace_info *trace = info->info;
	const struct info_process *first = &info->process[0];
	const struct xaudit_read_amounts *all = &info->all;
	time_t began = (time_t)(trace->start_real / 1000000000);
	char buf[SHOW_TIME_SIZE], date[64];
	struct tm tm;

	line("Trace", trace->path);
	line("Command", trace->command ? trace->command : first->info->command);
	line("Status", trace->status);
	line("Recorded by", trace->version);
	line("Host", first->info->host);
	if (began && localtime_r(&began, &tm) && strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %z", &tm))
		line("Began", date);
	print_clock(first->head);
	if (all->events || all->custom || all->probes)
		line("Time", show_time(buf, all->last > all->first ? all->last - all->first : 0));
	printf("Processes   %" PRIu32 "\n", trace->processes);
	print_amounts(info, all, "");
	info_sched(info, color);
	if (trace->processes > FEW && !verbose) {
		info_many(info, color);
		return;
	}
	for (uint32_t i = 0; i < trace->processes; i++)
		print_process(info, &info->process[i], color);
}

struct own {
	struct show_options options;
	bool verbose;
};

static const struct options_row rows[] = {
	{ 'v', "verbose", NULL, "each process, where they are more than 10: else a line per program",
		.take = options_flag, .at = offsetof(struct own, verbose) },
	SHOW_FORMAT("text or json", "text (default) or json"),
	SHOW_ROWS
};

static const struct options_syntax syntax = {
	.command = "info",
	.rows = rows,
	.column = SHOW_COLUMN,
	.prose = true,
	.head = "Usage: xaudit info [OPTION]... [DIR]\n"
		"Shows what was recorded, what was not, and why, in the trace in DIR (default:\n"
		TOOL_FOLDER ").\n"
		"\n"
		"Options:\n",
};

static void add(struct xaudit_read_amounts *all, const struct xaudit_read_amounts *amounts)
{
	all->threads += amounts->threads;
	all->events += amounts->events;
	all->disk += amounts->disk;
	all->lost += amounts->lost;
	for (int k = 0; k < XAUDIT_READ_CAUSES; k++)
		all->lost_by[k] += amounts->lost_by[k];
	all->counted += amounts->counted;
	all->overwritten += amounts->overwritten;
	all->custom += amounts->custom;
	all->probes += amounts->probes;
	all->custom_bytes += amounts->custom_bytes;
	all->unfinished += amounts->unfinished;
	all->first = amounts->first < all->first ? amounts->first : all->first;
	all->last = amounts->last > all->last ? amounts->last : all->last;
}

static void look(struct info *info)
{
	struct stat st;

	info->info = xaudit_read_trace_info(info->trace);
	if (info->info->packed && !stat(info->info->path, &st))
		info->file = (uint64_t)st.st_size;
	info->process = memory_zeroed(info->info->processes, sizeof(*info->process));
	for (uint32_t i = 0; i < info->info->processes; i++) {
		struct info_process *of = &info->process[i];
		of->process = xaudit_read_process(info->trace, i);
		of->facts = xaudit_read_process_facts(of->process);
		if (!of->facts)
			memory_failed();
		of->info = xaudit_read_process_info(of->process);
		of->head = xaudit_read_process_head(of->process);
		of->amounts.size = sizeof(of->amounts);
		xaudit_read_process_amounts(of->process, XAUDIT_READ_UNKNOWN, &of->amounts);
		add(&info->all, &of->amounts);
	}
}

int info_main(int argc, char **argv)
{
	struct info info = { .all.first = XAUDIT_READ_UNKNOWN };
	struct own own = { 0 };
	int status;

	info.trace = show_begin(&own.options, &syntax, argc, argv, &status);
	if (!info.trace)
		return status;
	look(&info);
	show_trace_need_memory(info.trace);
	if (own.options.json)
		info_json(&info);
	else
		print_text(&info, own.verbose, show_colors(&own.options));
	free(info.process);
	return show_end_trace(info.trace);
}
