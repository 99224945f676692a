/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/* xaudit info: what was recorded, what was not, and why. */
#include "tool/show/info.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "audit/rules/rules.h"
#include "tool/lost.h"
#include "tool/memory.h"
#include "tool/show/open.h"
#include "tool/show/show.h"
#include "tool/tool.h"
#include "tool/read/counts.h"
#include "tool/read/events.h"
#include "tool/read/state.h"

#define FEW 10 /* processes that are shown one by one */

const char *info_kind(unsigned kind)
{
	return kind < TRACE_KIND_COUNT ? kind_rows[kind].word : NULL;
}

const char *info_lost_reason(uint32_t error)
{
	switch (error) {
	case 0:
		return NULL;
	case EFBIG:
		return "the trace reached its size limit (size-limit)";
	case ENOSPC:
	case EDQUOT:
		return "the disk is full";
	case ENOMEM:
		return "no memory";
	default:
		return error < 4096 ? strerror((int)error) : NULL;
	}
}

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

uint64_t info_began(const struct read_folder *folder)
{
	return folder->process[0]->head.first.real;
}

/* ---- counting ---- */

struct scan {
	struct info_sums *sums;
	struct read_events *source;
	uint64_t most;	     /* words, of all finished chunks, that are to be read */
	uint64_t first, now; /* ticks, of events */
};

READ_INLINE bool scan_event(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	struct scan *scan = user;

	(void)type;
	(void)id;
	(void)now;
	(void)at;
	scan->sums->events++;
	scan->now = time > scan->now ? time : scan->now;
	scan->first = scan->first < time ? scan->first : time;
	return false;
}

/* Leaves out a chunk when enough has been read. */
static void scan_chunk(struct info_sums *sums, struct read_events *source, uint64_t most)
{
	uint64_t words = source->stream.chunk.head.used ? read_events_chunk_words(source) : 0;

	if (sums->words && words > most - (sums->words < most ? sums->words : most)) {
		sums->skipped += words;
		read_events_skip_chunk(source);
	} else {
		sums->words += words;
	}
}

static bool scan_other(void *user, enum read_decoded what)
{
	struct scan *scan = user;
	struct info_sums *sums = scan->sums;
	const struct read_decoder *d = &scan->source->decoder;

	switch (what) {
	case READ_DECODED_THREAD:
		sums->threads++;
		break;
	case READ_DECODED_CRASH:
		sums->crashes++;
		sums->signal = d->signal;
		break;
	case READ_DECODED_CUSTOM:
		sums->custom++;
		sums->custom_bytes += d->custom.size;
		scan->now = d->time > scan->now ? d->time : scan->now;
		scan->first = scan->first < d->time ? scan->first : d->time;
		break;
	case READ_DECODED_CHUNK:
		scan_chunk(sums, scan->source, scan->most);
		break;
	case READ_DECODED_LOST:
		if (scan->source->stream.chunk.head.version == 1)
			sums->lost += scan->source->stream.chunk.head.lost;
		break;
	case READ_DECODED_GAP:
	case READ_DECODED_STACK:
	case READ_DECODED_PART:
	case READ_DECODED_NOTHING:
	case READ_DECODED_MORE:
		break;
	}
	return false;
}

static void scan_events(struct info_sums *sums, struct read_process *process, unsigned number, uint64_t most)
{
	struct read_events source;
	struct scan scan = { .sums = sums, .source = &source, .most = most, .first = UINT64_MAX };

	if (!read_events_open(&source, process, number, READ_STREAM_BLOCK))
		return;
	read_events_all(&source, scan_event, scan_other, &scan);
	sums->disk += source.stream.chunks.disk;
	sums->overwritten += source.stream.chunks.overwritten;
	sums->unfinished += source.decoder.unfinished;
	read_events_close(&source);
	if (scan.first == UINT64_MAX)
		return;
	uint64_t first = read_clock_time(&process->clock, scan.first);
	uint64_t last = read_clock_time(&process->clock, scan.now);
	sums->first = first < sums->first ? first : sums->first;
	sums->last = last > sums->last ? last : sums->last;
}

/* A record without events may have counters. */
static void scan_counters(struct info_sums *sums, struct read_process *process, unsigned number)
{
	static struct read_counts counts;
	bool any = false;

	if (!read_counts_open(&counts, process, number))
		return;
	sums->disk += counts.disk;
	while (read_counts_next(&counts)) {
		sums->counted += counts.calls;
		any = true;
	}
	sums->threads += any && !(process->files[number] & (READ_FILE_EVENTS | READ_FILE_RING));
	read_counts_close(&counts);
}

/* How many events the chunks that were not read would add, judged by those that were. */
static uint64_t rest_of(const struct info_sums *sums, uint64_t events)
{
	return (uint64_t)((unsigned __int128)events * sums->skipped / sums->words);
}

void info_estimate(struct info_sums *sums, struct read_process *process, uint64_t bytes)
{
	*sums = (struct info_sums){ .first = UINT64_MAX, .lost = process->head.lost };
	memcpy(sums->lost_by, process->head.lost_by, sizeof(sums->lost_by));
	for (unsigned i = 0; i < process->threads; i++) {
		if (process->files[i] & (READ_FILE_EVENTS | READ_FILE_RING))
			scan_events(sums, process, i, bytes / sizeof(uint64_t));
		if (process->files[i] & READ_FILE_COUNTS)
			scan_counters(sums, process, i);
	}
	if (sums->skipped) {
		sums->estimated = true;
		sums->events += rest_of(sums, sums->events);
		sums->custom += rest_of(sums, sums->custom);
		sums->custom_bytes += rest_of(sums, sums->custom_bytes);
	}
}

void info_count(struct info_sums *sums, struct read_process *process)
{
	info_estimate(sums, process, UINT64_MAX);
}

uint64_t info_private(const struct read_object *object)
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

static void print_clock(const struct read_clock *clock)
{
	if (clock->source == TRACE_CLOCK_MONOTONIC) {
		puts("Clock       CLOCK_MONOTONIC, since the TSC could not be used");
		return;
	}
	printf("Clock       TSC, ");
	if (!clock->valid) {
		puts("of unknown frequency: a tick is shown as 1 ns");
		return;
	}
	printf("%.6f GHz by %u pairs%s, within ", (double)(1ull << READ_CLOCK_SHIFT) / (double)clock->mult,
		clock->pairs, clock->fresh ? " (one taken now)" : "");
	/* %g changes to exponents when its digits are too few. */
	printf(clock->ppm < 99.5 ? "%.2g ppm\n" : "%.0f ppm\n", clock->ppm);
}

static void print_sums(const struct info_sums *sums, const char *indent)
{
	printf("%sThreads     %" PRIu64 "\n", indent, sums->threads);
	printf("%sEvents      %" PRIu64 " in %" PRIu64 " bytes on disk", indent, sums->events, sums->disk);
	if (sums->events)
		printf(", %.2f bytes per event", (double)sums->disk / (double)sums->events);
	printf("\n%sLost        %" PRIu64 "\n", indent, sums->lost);
	char *why = lost_words(sums->lost_by);
	if (why)
		printf("%sWhy lost    %s\n", indent, why);
	free(why);
	if (sums->counted)
		printf("%sCounted     %" PRIu64 " calls without time\n", indent, sums->counted);
	if (sums->custom)
		printf("%sCustom      %" PRIu64 " events, %" PRIu64 " bytes of data\n", indent, sums->custom,
			sums->custom_bytes);
	if (sums->unfinished)
		printf("%sUnfinished  %" PRIu64 " custom events\n", indent, sums->unfinished);
	if (sums->overwritten)
		printf("%sOverwritten %" PRIu64 " chunks: the flight recorder holds the newest events\n", indent,
			sums->overwritten);
}

/* "8.0 MiB" */
static void print_size(uint64_t bytes)
{
	if (bytes >= 1u << 20)
		printf("%.1f MiB", (double)bytes / (1u << 20));
	else
		printf("%" PRIu64 " kB", (bytes + 1023) / 1024);
}

static void print_mode(const struct trace_head *head)
{
	printf("  Mode        %s, %s", read_mode_word(head->mode), head->recording ? "recording" : "stopped");
	if (head->ring_size) {
		printf("; a flight recorder of ");
		print_size(head->ring_size);
		printf(" per thread in chunks of ");
		print_size(head->ring_chunk);
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

static void print_changes(const struct read_process *process)
{
	char buf[SHOW_TIME_SIZE];

	for (uint32_t i = 0; i < process->changes && !show_output_broken(); i++) {
		const struct read_change *change = &process->change[i];
		uint64_t start = process->head.first.ticks;
		printf("  Change      ");
		printf("%12s  ",
			show_time(buf,
				change->clock > start ? read_clock_span(&process->clock, change->clock - start) : 0));
		change_print(stdout, process, change);
		putchar('\n');
	}
}

static void print_kinds(uint32_t kinds)
{
	const char *between = "";

	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		if (kinds >> kind & 1) {
			printf("%s%s", between, info_kind(kind));
			between = " ";
		}
	}
	if (!*between)
		fputs("none", stdout);
}

static void print_object(const struct read_object *object, const struct show_colors *color)
{
	printf("    %s", color->name);
	tool_text(stdout, read_object_path(object));
	printf("%s  ", color->off);
	print_kinds(object->kinds);
	if (object->flags & TRACE_OBJECT_PROGRAM)
		printf("  (the program)");
	if (object->flags & TRACE_OBJECT_LOADER)
		printf("  (the dynamic loader, never touched)");
	if (object->flags & TRACE_OBJECT_VDSO)
		printf("  (the vDSO, never touched)");
	putchar('\n');
	for (uint32_t i = 0; i < object->sites; i++) {
		const struct trace_site_count *site = &object->site[i];
		const char *kind = info_kind(site->kind), *reason = read_reason_phrase(site->reason);
		if (site->count)
			printf("      %-9s %8" PRIu32 "  %s\n", kind ? kind : "?", site->count, reason ? reason : "?");
	}
	if (object->has_pages && object->site_pages)
		printf("      pages     %8" PRIu32 "  of code, %" PRIu32 " with sites, %" PRIu32 " patched: %" PRIu64
		       " kB private in each further process\n",
			object->text_pages, object->site_pages, object->patched_pages, info_private(object) / 1024);
}

static void print_process(
	const struct read_process *process, const struct info_sums *sums, const struct show_colors *color)
{
	const struct trace_head *head = &process->head;
	uint32_t objects = 0;

	printf("\n%sProcess %" PRIu32 "%s (", color->head, head->pid, color->off);
	tool_text(stdout, process->name);
	printf("), child of %" PRIu32 ": %s%s\n", head->ppid, read_process_state_phrase(read_process_state(process)),
		head->flags & TRACE_OFF ? ", switched off" : "");
	if (process->exe)
		line("  Program", process->exe);
	line("  Command", process->command);
	line("  Module", process->module);
	line("  Rules", process->config);
	print_mode(head);
	print_sums(sums, "  ");
	if (sums->lost && head->version == 1 && info_lost_reason(head->lost_error))
		line("  Why lost", info_lost_reason(head->lost_error));
	if (sums->lost && info_record_reason(head->record_error))
		line("  Why lost", info_record_reason(head->record_error));
	if (sums->crashes)
		printf("  %sCrash       by signal %d%s\n", color->warn, sums->signal, color->off);
	if (head->no_mirror)
		printf("  %" PRIu64 " returns could not be intercepted for want of a mirror\n", head->no_mirror);
	if (head->meta_lost)
		printf("  %s%" PRIu64 " records of names and loads were lost%s\n", color->warn, head->meta_lost,
			color->off);
	for (uint32_t i = 0; i < process->notes; i++) {
		printf("  Note        ");
		tool_text(stdout, process->note[i]);
		putchar('\n');
	}
	print_changes(process);
	for (uint32_t i = 0; i < read_process_objects(process); i++)
		objects += read_process_object(process, i) != NULL;
	printf("  Objects     %" PRIu32 ", %" PRIu64 " loads, %" PRIu64 " unloads\n", objects, process->loads,
		process->unloads);
	for (uint32_t i = 0; i < read_process_objects(process) && !show_output_broken(); i++)
		if (read_process_object(process, i))
			print_object(read_process_object(process, i), color);
}

static void print_text(struct read_folder *folder, const struct info_sums *sums, const struct info_sums *all,
	bool verbose, const struct show_colors *color)
{
	const struct read_process *first = folder->process[0];
	time_t began = (time_t)(info_began(folder) / 1000000000);
	char buf[SHOW_TIME_SIZE], date[64];
	struct tm tm;

	line("Trace", folder->path);
	line("Command", folder->command ? folder->command : first->command);
	line("Status", folder->status);
	line("Recorded by", folder->version);
	line("Host", first->host);
	if (began && localtime_r(&began, &tm) && strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %z", &tm))
		line("Began", date);
	print_clock(&first->clock);
	if (all->events || all->custom)
		line("Time", show_time(buf, all->last > all->first ? all->last - all->first : 0));
	printf("Processes   %u\n", folder->processes);
	print_sums(all, "");
	if (folder->processes > FEW && !verbose) {
		info_many(folder, sums, color);
		return;
	}
	for (unsigned i = 0; i < folder->processes; i++)
		print_process(folder->process[i], &sums[i], color);
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
		"Shows what was recorded, what was not, and why, in the trace in DIR (default: xaudit.data).\n"
		"\n"
		"Options:\n",
};

int info_main(int argc, char **argv)
{
	struct info_sums all = { .first = UINT64_MAX }, *sums;
	struct own own = { 0 };
	int status = show_begin(&own.options, &syntax, argc, argv);

	if (status >= 0)
		return status;
	struct read_folder *folder = show_open(own.options.dir, own.options.pid);
	if (!folder)
		return TOOL_FAILED;
	sums = memory_zeroed(folder->processes, sizeof(*sums));
	for (unsigned i = 0; i < folder->processes; i++) {
		read_process_load(folder->process[i]);
		info_count(&sums[i], folder->process[i]);
		all.threads += sums[i].threads;
		all.events += sums[i].events;
		all.disk += sums[i].disk;
		all.lost += sums[i].lost;
		for (int k = 0; k < TRACE_LOST_ROOM; k++)
			all.lost_by[k] += sums[i].lost_by[k];
		all.counted += sums[i].counted;
		all.overwritten += sums[i].overwritten;
		all.custom += sums[i].custom;
		all.custom_bytes += sums[i].custom_bytes;
		all.unfinished += sums[i].unfinished;
		all.first = sums[i].first < all.first ? sums[i].first : all.first;
		all.last = sums[i].last > all.last ? sums[i].last : all.last;
	}
	show_need_memory(folder);
	if (own.options.json)
		info_json(folder, sums, &all);
	else
		print_text(folder, sums, &all, own.verbose, show_colors(&own.options));
	free(sums);
	return show_end(folder);
}
