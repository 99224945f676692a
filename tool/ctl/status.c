/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/options.h"
#include "tool/base/tool.h"
#include "tool/ctl/find_module.h"
#include "tool/ctl/process.h"
#include "tool/ctl/status_live.h"
#include "tool/ctl/status_trace.h"
#include "tool/ctl/targets.h"
#include "tool/show/info.h"
#include "tool/show/show.h"

/*
 * Private memory that one more process pays for the same patches: its own copies of the pages. A process that is forked
 * later shares them.
 */
static uint64_t further_kb(const struct status_object *object)
{
	return 4 * object->patched;
}

static bool is_shown(const struct status_object *object)
{
	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (object->kind[kind].functions || object->kind[kind].sites)
			return true;
	return object->patched > 0;
}

/* ---- the table ---- */

static void print_object(const struct status_object *object, bool alive)
{
	printf("\n");
	tool_text(stdout, object->path ? object->path : "[unknown]");
	if (alive && object->loads != 1)
		printf("  (%" PRIu64 " loads)", object->loads);
	printf("\n");
	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		const struct status_kind *k = &object->kind[kind];
		if (!k->functions && !k->sites)
			continue;
		if (alive)
			printf("  %-9s %8" PRIu64 " functions  %8" PRIu64 " sites  %8" PRIu64 " on\n",
				xaudit_read_kind_word(kind), k->functions, k->sites, k->on);
		else
			printf("  %-9s %8" PRIu64 " functions  %8" PRIu64 " on\n", xaudit_read_kind_word(kind),
				k->functions, k->on);
	}
	if (object->has_pages)
		printf("  text      %8" PRIu64 " pages      %8" PRIu64 " patched: %" PRIu64 " kB private, %" PRIu64
		       " kB for each further process that is not forked off\n",
			object->text, object->patched, object->private_kb, further_kb(object));
}

static void print(const struct status *s)
{
	size_t shown = 0;

	printf("Process     %" PRIu32 "%s%s%s\n", s->pid, s->end ? ", " : "", s->end ? s->end : "",
		s->switched_off ? ", xaudit has switched itself off" : "");
	printf("Recording   %s, mode %s", s->recording ? "yes" : s->switched_off || s->why || s->end ? "no" : "stopped",
		xaudit_read_mode_word(s->mode));
	if (s->why) {
		printf(": ");
		tool_text(stdout, s->why);
	}
	printf("\nTrace       ");
	tool_text(stdout, s->folder ? s->folder : "none yet");
	printf("\n");
	if (s->has_events) {
		printf("Events      %s%" PRIu64 " of %" PRIu64 " threads, %" PRIu64 " bytes on disk",
			s->estimated ? "about " : "", s->events, s->threads, s->disk);
		if (s->counted)
			printf("; %" PRIu64 " calls counted", s->counted);
		printf("\nLost        %" PRIu64 "\n", s->lost);
	}
	if (s->alive) {
		printf("Epoch       %" PRIu64 ", %" PRIu64 " loads wait to be freed\n", s->epoch, s->waiting);
		printf("Memory      module %" PRIu64 " kB, stubs %" PRIu64 " kB, mirrors %" PRIu64
		       " kB, trace buffers %" PRIu64 " kB\n",
			s->module_kb, s->stubs_kb, s->mirror_kb, s->buffers_kb);
	}
	for (size_t i = 0; i < s->objects; i++)
		shown += is_shown(&s->object[i]);
	printf("Objects     %zu, %zu with sites\n", s->objects, shown);
	for (size_t i = 0; i < s->objects && !show_output_broken(); i++)
		if (is_shown(&s->object[i]))
			print_object(&s->object[i], s->alive);
}

/* ---- JSON ---- */

static void number(const char *key, uint64_t n, bool known)
{
	if (known)
		printf(",\"%s\":%" PRIu64, key, n);
	else
		printf(",\"%s\":null", key);
}

static void json_object(const struct status_object *object, bool alive)
{
	const char *between = "";

	printf("{\"path\":");
	json_string(stdout, object->path);
	number("loads", object->loads, alive);
	printf(",\"kinds\":{");
	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		const struct status_kind *k = &object->kind[kind];
		if (!k->functions && !k->sites)
			continue;
		printf("%s\"%s\":{\"functions\":%" PRIu64, between, xaudit_read_kind_word(kind), k->functions);
		number("sites", k->sites, alive);
		number("on", k->on, true);
		printf("}");
		between = ",";
	}
	printf("}");
	number("text_pages", object->text, object->has_pages);
	number("patched_pages", object->patched, object->has_pages);
	number("private_kb", object->private_kb, object->has_pages);
	number("further_kb", further_kb(object), object->has_pages);
	printf("}");
}

static void json(const struct status *s)
{
	printf("{\"pid\":%" PRIu32 ",\"alive\":%s,\"ended\":%s,\"folder\":", s->pid, s->alive ? "true" : "false",
		s->end ? "true" : "false");
	json_string(stdout, s->folder);
	printf(",\"off\":%s,\"reason\":", s->switched_off ? "true" : "false");
	json_string(stdout, s->why);
	printf(",\"recording\":%s,\"mode\":", s->recording ? "true" : "false");
	json_string(stdout, xaudit_read_mode_word(s->mode));
	number("threads", s->threads, s->has_events);
	number("events", s->events, s->has_events);
	if (s->estimated)
		printf(",\"estimated\":true");
	number("counted", s->counted, s->has_events);
	number("lost", s->lost, s->has_events);
	number("disk_bytes", s->disk, s->has_events);
	number("epoch", s->epoch, s->alive);
	number("waiting", s->waiting, s->alive);
	number("module_kb", s->module_kb, s->alive);
	number("stubs_kb", s->stubs_kb, s->alive);
	number("mirror_kb", s->mirror_kb, s->alive);
	number("buffers_kb", s->buffers_kb, s->alive);
	printf(",\"objects\":[");
	for (size_t i = 0; i < s->objects; i++) {
		if (i)
			printf(",");
		json_object(&s->object[i], s->alive);
	}
	printf("]}");
}

/* ---- the command ---- */

static void show(const struct status *status, size_t count, bool as_json, bool list)
{
	if (as_json && list)
		printf("[");
	for (size_t i = 0; i < count; i++) {
		if (i)
			printf(as_json ? "," : "\n");
		if (as_json)
			json(&status[i]);
		else
			print(&status[i]);
	}
	if (as_json)
		printf(list ? "]\n" : "\n");
}

static void forget(struct status *status, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < status[i].objects; k++)
			free(status[i].object[k].path);
		free(status[i].object);
		free(status[i].folder);
		free(status[i].why);
	}
}

/* Its help is that of ctl. */
static const struct options_row rows[] = {
	{ .word = "format", .value = "FORMAT", .take = options_word, .allowed = "table, json" },
	{ 0 },
};

static const struct options_wording wording = {
	.no_value = "status: '%o' is no option, or has no value: see xaudit ctl --help",
	.unknown = "status: '%o' is no option, or has no value: see xaudit ctl --help",
	.wrong = "unknown format '%v'; allowed: %a",
};

static const struct options_syntax syntax = {
	.command = "ctl", .rows = rows, .in_front = true, .wording = &wording
};

/* Returns -1, or the exit status. */
static int take_options(int argc, char **argv, int *as_json)
{
	int first = options_take(&syntax, as_json, argc, argv);

	if (first < 0)
		return TOOL_USAGE;
	if (first == argc)
		return -1;
	tool_error("ctl", "status takes no argument '%s'", argv[first]);
	return TOOL_USAGE;
}

int ctl_status(const struct ctl_targets *targets, const char *where, int argc, char **argv)
{
	struct ctl_process process;
	struct status *all;
	size_t count = 0, gone = 0;
	int as_json = 0, damage = 0, status = take_options(argc, argv, &as_json);

	if (status >= 0)
		return status;
	if (where) {
		all = status_trace(where, &count, &damage);
		if (!all)
			return TOOL_FAILED;
		show(all, count, as_json, true);
		forget(all, count);
		free(all);
		return damage ? TOOL_FAILED : TOOL_OK;
	}
	all = memory_zeroed(targets->count, sizeof(*all));
	for (size_t i = 0; i < targets->count; i++) {
		ctl_may_end(i >= targets->named);
		if (!ctl_open(&process, targets->pid[i])) {
			gone += ctl_ended();
			continue;
		}
		if (status_live(&all[count], &process))
			status_events(&all[count++]);
		else
			gone += ctl_ended();
		ctl_close(&process);
	}
	bool failed = count + gone < targets->count;
	if (count)
		show(all, count, as_json, ctl_targets_several(targets));
	for (size_t i = 0; i < count; i++) {
		if (all[i].cut)
			tool_error("ctl",
				"process %" PRIu32
				": what is said to be libxaudit.so's there has no end; the rest of it was not read",
				all[i].pid);
		failed |= all[i].cut;
	}
	forget(all, count);
	free(all);
	return failed ? TOOL_FAILED : TOOL_OK;
}
