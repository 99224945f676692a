/* SPDX-License-Identifier: MIT */
#include "tool/show/info_json.h"

#include <inttypes.h>
#include <stdlib.h>

#include "format/trace.h"
#include "tool/base/json.h"
#include "tool/base/lost.h"
#include "tool/show/info.h"
#include "tool/show/info_sched.h"
#include "tool/show/probe_text.h"
#include "tool/show/show.h"

static void text(const char *key, const char *value, const char *behind)
{
	printf("\"%s\":", key);
	json_string(stdout, value);
	fputs(behind, stdout);
}

static void print_clock(const struct xaudit_read_head *head)
{
	printf("\"clock\":{\"source\":\"%s\",\"hz\":", head->clock_tsc ? "tsc" : "monotonic");
	if (!head->clock_tsc)
		printf("1000000000");
	else if (head->clock_known)
		printf("%.0f", head->clock_hz);
	else
		printf("null");
	printf(",\"pairs\":%" PRIu32 ",\"ppm\":", head->clock_pairs);
	if (head->clock_known)
		printf("%.3g},\n", head->clock_ppm);
	else
		printf("null},\n");
}

/* How many bytes of a packed file a process takes can't be told. */
static void print_amounts(const struct info *info, const struct xaudit_read_amounts *amounts)
{
	uint64_t disk = info->file ? info->file : amounts->disk;
	bool known = !info->file || amounts == &info->all;

	printf("\"threads\":%" PRIu64 ",\"events\":%" PRIu64 ",\"disk_bytes\":", amounts->threads, amounts->events);
	printf(known ? "%" PRIu64 : "null", disk);
	printf(",\"unpacked_bytes\":%" PRIu64 ",\"bytes_per_event\":", amounts->disk);
	if (amounts->events && known)
		printf("%.3f", (double)disk / (double)amounts->events);
	else
		printf("null");
	printf(",\"lost\":%" PRIu64 ",\"lost_by\":[", amounts->lost);
	struct lost_cause cause[TRACE_LOST_ROOM];
	unsigned causes = lost_causes(cause, amounts->lost_by);
	for (unsigned i = 0; i < causes; i++)
		printf("%s{\"events\":%" PRIu64 ",\"cause\":\"%s\"}", i ? "," : "", cause[i].events, cause[i].phrase);
	printf("],");
}

static void print_custom(const struct xaudit_read_amounts *amounts)
{
	printf("\"custom_events\":%" PRIu64 ",\"custom_bytes\":%" PRIu64 ",\"custom_unfinished\":%" PRIu64
	       ",\"probe_events\":%" PRIu64 ",",
		amounts->custom, amounts->custom_bytes, amounts->unfinished, amounts->probes);
}

/* "sites":{KIND:{REASON:functions...}...}, entries of a kind together in the order of kinds. */
static void print_sites(const struct xaudit_read_process_object *object)
{
	const char *between_kinds = "";

	printf("\"sites\":{");
	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		const char *between = "";
		for (uint32_t i = 0; i < object->sites; i++) {
			const struct xaudit_read_sites *site = &object->site[i];
			const char *reason = xaudit_read_reason_phrase(site->reason);
			if (site->kind != kind || !site->count || !reason)
				continue;
			if (!*between)
				printf("%s\"%s\":{", between_kinds, xaudit_read_kind_word(kind));
			fputs(between, stdout);
			json_string(stdout, reason);
			printf(":%" PRIu32, site->count);
			between = ",";
		}
		if (*between) {
			putchar('}');
			between_kinds = ",";
		}
	}
	printf("}");
}

static void print_object(const struct xaudit_read_process_object *object)
{
	const char *between = "";

	printf("\n{");
	text("path", object->path, ",");
	text("soname", *object->soname ? object->soname : NULL, ",");
	text("build_id", *object->build_id ? object->build_id : NULL, ",");
	text("role",
		object->role & XAUDIT_READ_PROGRAM	? "program" :
			object->role & XAUDIT_READ_LOADER ? "loader" :
			object->role & XAUDIT_READ_VDSO   ? "vdso" :
							      "library",
		",\"kinds\":[");
	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		if (object->kinds >> kind & 1) {
			printf("%s\"%s\"", between, xaudit_read_kind_word(kind));
			between = ",";
		}
	}
	printf("],");
	print_sites(object);
	if (object->has_pages)
		printf(",\"text_pages\":%" PRIu32 ",\"site_pages\":%" PRIu32 ",\"patched_pages\":%" PRIu32
		       ",\"private_bytes\":%" PRIu64,
			object->text_pages, object->site_pages, object->patched_pages, info_private(object));
	putchar('}');
}

static void function(const char *name)
{
	printf("\"function\":");
	json_string(stdout, name);
	names_json(stdout, name);
	putchar(',');
}

static void print_changes(const struct info_process *of)
{
	printf("\"changes\":[");
	for (uint32_t i = 0; i < of->facts->changes && !show_output_broken(); i++) {
		const struct xaudit_read_change *change = xaudit_read_process_change(of->process, i);
		printf("%s\n{\"time_ns\":%" PRIu64 ",\"tid\":%" PRIu32 ",\"change\":\"%s\",", i ? "," : "",
			change->time, change->tid, change->word);
		if (change->what == TRACE_CHANGE_MODE)
			printf("\"mode\":\"%s\",", xaudit_read_mode_word(change->value));
		else
			printf("\"value\":%" PRIu64 ",", change->value);
		if (change->what == TRACE_CHANGE_THROTTLED)
			function(change->function ? change->function->name : "[unknown]");
		text("text", change->text, "}");
	}
	printf("],");
}

static void print_probes(const struct info_process *of)
{
	printf("\"probes\":[");
	for (uint32_t i = 0; i < of->facts->probes && !show_output_broken(); i++) {
		fputs(i ? ",\n{" : "{", stdout);
		probe_json(stdout, xaudit_read_process_probe(of->process, i));
		putchar('}');
	}
	printf("],");
}

static void print_executed(const struct info_process *of)
{
	const struct xaudit_read_executed *executed;

	printf("\"executed\":[");
	for (uint32_t n = 0; (executed = xaudit_read_process_executed(of->process, n)); n++) {
		printf("%s{", n ? "," : "");
		text("name", executed->name, ",");
		printf("\"count\":%" PRIu64 ",\"untraced\":\"%s\"}", executed->count, executed->word);
	}
	printf("],");
}

static void print_process(const struct info *all, const struct info_process *of)
{
	const struct xaudit_read_process_info *info = of->info;
	const struct xaudit_read_head *head = of->head;
	const struct xaudit_read_facts *facts = of->facts;
	const struct xaudit_read_amounts *amounts = &of->amounts;
	const char *between = "";
	char *reason = lost_words(amounts->lost_by);

	printf("\n{\"pid\":%" PRIu32 ",\"ppid\":%" PRIu32 ",", info->pid, info->parent);
	text("folder", info->name, ",");
	text("program", info->exe, ",");
	text("command", info->command, ",");
	text("module", facts->module, ",");
	text("rules", facts->rules, ",");
	printf("\"ended\":%s,\"state\":\"%s\",\"off\":%s,", head->exited ? "true" : "false",
		xaudit_read_state_word(xaudit_read_process_state(of->process)), head->off ? "true" : "false");
	text("lost_reason", reason, ",");
	free(reason);
	text("record_reason", info_record_reason(head->record_error), ",");
	print_amounts(all, amounts);
	info_sched_process_json(all, of);
	printf("\"no_mirror\":%" PRIu64 ",\"meta_lost\":%" PRIu64 ",\"loads\":%" PRIu64 ",\"unloads\":%" PRIu64
	       ",\"notes\":[",
		head->no_return, head->records_lost, facts->loads, facts->unloads);
	for (uint32_t i = 0; i < facts->notes; i++) {
		fputs(i ? "," : "", stdout);
		json_string(stdout, facts->note[i]);
	}
	printf("],");
	print_executed(of);
	print_custom(amounts);
	printf("\"counted\":%" PRIu64 ",\"overwritten_chunks\":%" PRIu64
	       ",\"mode\":\"%s\",\"overflow\":\"%s\",\"recording\":%s,\"ring_bytes\":%" PRIu64
	       ",\"ring_chunk_bytes\":%" PRIu64 ",\"coarse_events\":%" PRIu32 ",\"taken_back\":%" PRIu64
	       ",\"crash_signal\":",
		amounts->counted, amounts->overwritten, xaudit_read_mode_word(head->mode),
		head->overflow == TRACE_OVERFLOW_DROP ? "drop" : "wait", head->recording ? "true" : "false",
		head->ring_bytes, head->ring_bytes ? head->ring_chunk_bytes : 0, head->coarse, head->taken_back);
	if (amounts->crashes)
		printf("%d,", amounts->signal);
	else
		printf("null,");
	print_changes(of);
	print_probes(of);
	printf("\"objects\":[");
	for (uint32_t i = 0; i < facts->objects && !show_output_broken(); i++) {
		fputs(between, stdout);
		print_object(xaudit_read_process_object(of->process, i));
		between = ",";
	}
	printf("]}");
}

void info_json(const struct info *info)
{
	const struct xaudit_read_trace_info *trace = info->info;
	const struct info_process *first = &info->process[0];
	const struct xaudit_read_amounts *all = &info->all;

	putchar('{');
	text("trace", trace->path, ",");
	text("command", trace->command ? trace->command : first->info->command, ",");
	text("status", trace->status, ",");
	text("version", trace->version, ",");
	text("host", first->info->host, ",");
	print_clock(first->head);
	printf("\"began_ns\":%" PRIu64 ",\"time_ns\":%" PRIu64 ",", trace->start_real,
		(all->events || all->custom || all->probes) && all->last > all->first ? all->last - all->first : 0);
	print_amounts(info, all);
	info_sched_json(info);
	print_custom(all);
	printf("\"counted\":%" PRIu64 ",\"overwritten_chunks\":%" PRIu64 ",", all->counted, all->overwritten);
	printf("\"processes\":[");
	for (uint32_t i = 0; i < trace->processes; i++) {
		fputs(i ? "," : "", stdout);
		print_process(info, &info->process[i]);
	}
	printf("]}\n");
}
