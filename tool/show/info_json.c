/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "tool/show/info.h"
#include "tool/json.h"
#include "tool/lost.h"
#include "tool/show/show.h"
#include "tool/read/state.h"

static void text(const char *key, const char *value, const char *behind)
{
	printf("\"%s\":", key);
	json_string(stdout, value);
	fputs(behind, stdout);
}

static void print_clock(const struct read_clock *clock)
{
	bool tsc = clock->source == TRACE_CLOCK_TSC;

	printf("\"clock\":{\"source\":\"%s\",\"hz\":", tsc ? "tsc" : "monotonic");
	if (!tsc)
		printf("1000000000");
	else if (clock->valid)
		printf("%.0f", 1e9 * (double)(1ull << READ_CLOCK_SHIFT) / (double)clock->mult);
	else
		printf("null");
	printf(",\"pairs\":%u,\"ppm\":", clock->pairs);
	if (clock->valid)
		printf("%.3g},\n", clock->ppm);
	else
		printf("null},\n");
}

static void print_sums(const struct info_sums *sums)
{
	printf("\"threads\":%" PRIu64 ",\"events\":%" PRIu64 ",\"disk_bytes\":%" PRIu64 ",\"bytes_per_event\":",
		sums->threads, sums->events, sums->disk);
	if (sums->events)
		printf("%.3f", (double)sums->disk / (double)sums->events);
	else
		printf("null");
	printf(",\"lost\":%" PRIu64 ",\"lost_by\":[", sums->lost);
	struct lost_cause cause[TRACE_LOST_ROOM];
	unsigned causes = lost_causes(cause, sums->lost_by);
	for (unsigned i = 0; i < causes; i++)
		printf("%s{\"events\":%" PRIu64 ",\"cause\":\"%s\"}", i ? "," : "", cause[i].events, cause[i].phrase);
	printf("],");
}

static void print_custom(const struct info_sums *sums)
{
	printf("\"custom_events\":%" PRIu64 ",\"custom_bytes\":%" PRIu64 ",\"custom_unfinished\":%" PRIu64 ",",
		sums->custom, sums->custom_bytes, sums->unfinished);
}

/* "sites":{KIND:{REASON:functions...}...}, entries of a kind together in the order of kinds. */
static void print_sites(const struct read_object *object)
{
	const char *between_kinds = "";

	printf("\"sites\":{");
	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		const char *between = "";
		for (uint32_t i = 0; i < object->sites; i++) {
			const struct trace_site_count *site = &object->site[i];
			const char *reason = read_reason_phrase(site->reason);
			if (site->kind != kind || !site->count || !reason)
				continue;
			if (!*between)
				printf("%s\"%s\":{", between_kinds, info_kind(kind));
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

static void print_object(const struct read_object *object)
{
	const char *between = "";

	printf("\n{");
	text("path", read_object_path(object), ",");
	text("soname", object->soname && *object->soname ? object->soname : NULL, ",");
	text("build_id", object->build_id && *object->build_id ? object->build_id : NULL, ",");
	text("role",
		object->flags & TRACE_OBJECT_PROGRAM	? "program" :
			object->flags & TRACE_OBJECT_LOADER ? "loader" :
			object->flags & TRACE_OBJECT_VDSO   ? "vdso" :
							      "library",
		",\"kinds\":[");
	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		if (object->kinds >> kind & 1) {
			printf("%s\"%s\"", between, info_kind(kind));
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

static void print_changes(const struct read_process *process)
{
	char buf[320];

	printf("\"changes\":[");
	for (uint32_t i = 0; i < process->changes && !show_output_broken(); i++) {
		const struct read_change *change = &process->change[i];
		printf("%s\n{\"time_ns\":%" PRIu64 ",\"tid\":%" PRIu32 ",\"change\":\"%s\",", i ? "," : "",
			read_clock_time(&process->clock, change->clock), change->tid, read_change_word(change->what));
		if (change->what == TRACE_CHANGE_MODE)
			printf("\"mode\":\"%s\",", read_mode_word(change->value));
		else
			printf("\"value\":%" PRIu64 ",", change->value);
		if (change->what == TRACE_CHANGE_THROTTLED)
			function(read_function_name(
				process, change_function(process, change), buf, sizeof(buf)));
		text("text", change->text, "}");
	}
	printf("],");
}

static void print_process(const struct read_process *process, const struct info_sums *sums)
{
	const struct trace_head *head = &process->head;
	const char *between = "";
	char *reason = lost_words(sums->lost_by);

	printf("\n{\"pid\":%" PRIu32 ",\"ppid\":%" PRIu32 ",", head->pid, head->ppid);
	text("folder", process->name, ",");
	text("program", process->exe, ",");
	text("command", process->command, ",");
	text("module", process->module, ",");
	text("rules", process->config, ",");
	printf("\"ended\":%s,\"state\":\"%s\",\"off\":%s,", head->flags & TRACE_EXITED ? "true" : "false",
		read_process_state_word(read_process_state(process)),
		head->flags & TRACE_OFF ? "true" : "false");
	text("lost_reason", head->version == 1 ? info_lost_reason(head->lost_error) : reason, ",");
	free(reason);
	text("record_reason", info_record_reason(head->record_error), ",");
	print_sums(sums);
	printf("\"no_mirror\":%" PRIu64 ",\"meta_lost\":%" PRIu64 ",\"loads\":%" PRIu64 ",\"unloads\":%" PRIu64
	       ",\"notes\":[",
		head->no_mirror, head->meta_lost, process->loads, process->unloads);
	for (uint32_t i = 0; i < process->notes; i++) {
		fputs(i ? "," : "", stdout);
		json_string(stdout, process->note[i]);
	}
	printf("],");
	print_custom(sums);
	printf("\"counted\":%" PRIu64 ",\"overwritten_chunks\":%" PRIu64
	       ",\"mode\":\"%s\",\"overflow\":\"%s\",\"recording\":%s,\"ring_bytes\":%" PRIu64
	       ",\"ring_chunk_bytes\":%" PRIu64 ",\"coarse_events\":%" PRIu32 ",\"taken_back\":%" PRIu64
	       ",\"crash_signal\":",
		sums->counted, sums->overwritten, read_mode_word(head->mode),
		head->overflow == TRACE_OVERFLOW_DROP ? "drop" : "wait", head->recording ? "true" : "false",
		head->ring_size, head->ring_size ? head->ring_chunk : 0, head->coarse, head->taken_back);
	if (sums->crashes)
		printf("%d,", sums->signal);
	else
		printf("null,");
	print_changes(process);
	printf("\"objects\":[");
	for (uint32_t i = 0; i < read_process_objects(process) && !show_output_broken(); i++) {
		if (!read_process_object(process, i))
			continue;
		fputs(between, stdout);
		print_object(read_process_object(process, i));
		between = ",";
	}
	printf("]}");
}

void info_json(struct read_folder *folder, const struct info_sums *sums, const struct info_sums *all)
{
	const struct read_process *first = folder->process[0];

	putchar('{');
	text("trace", folder->path, ",");
	text("command", folder->command ? folder->command : first->command, ",");
	text("status", folder->status, ",");
	text("version", folder->version, ",");
	text("host", first->host, ",");
	print_clock(&first->clock);
	printf("\"began_ns\":%" PRIu64 ",\"time_ns\":%" PRIu64 ",", info_began(folder),
		(all->events || all->custom) && all->last > all->first ? all->last - all->first : 0);
	print_sums(all);
	print_custom(all);
	printf("\"counted\":%" PRIu64 ",\"overwritten_chunks\":%" PRIu64 ",", all->counted, all->overwritten);
	printf("\"processes\":[");
	for (unsigned i = 0; i < folder->processes; i++) {
		fputs(i ? "," : "", stdout);
		print_process(folder->process[i], &sums[i]);
	}
	printf("]}\n");
}
