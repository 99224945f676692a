/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/export/time/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/show.h"

void timeline_begin(struct timeline *timeline, const struct export *export)
{
	struct xaudit_read_process *process;
	struct hash pids = { 0 };

	for (uint32_t i = 0; (process = xaudit_read_process(export->trace, i)); i++) {
		uint32_t pid = xaudit_read_process_info(process)->pid, hash = hash_key(pid, 0);
		bool other = HASH_FIND(n, &pids, hash, timeline->pid[n] == pid) != HASH_NONE;

		timeline->pid = memory_grow(timeline->pid, i, sizeof(*timeline->pid));
		timeline->pid[i] = other ? TIMELINE_OTHER + i : pid;
		timeline->processes = i + 1;
		memory_hash(&pids, hash, i);
		memory_hash(&timeline->numbers, hash_key((uintptr_t)process, 0), i);
	}
	hash_free(&pids);
}

void timeline_free(struct timeline *timeline)
{
	free(timeline->pid);
	hash_free(&timeline->numbers);
	hash_free(&timeline->threads);
}

uint32_t timeline_number(const struct timeline *timeline, const struct export *export,
	const struct xaudit_read_process *process)
{
	return HASH_FIND(i, &timeline->numbers, hash_key((uintptr_t)process, 0),
		xaudit_read_process(export->trace, i) == process);
}

uint32_t timeline_pid(const struct timeline *timeline, const struct export *export,
	const struct xaudit_read_process *process)
{
	return timeline->pid[timeline_number(timeline, export, process)];
}

char *timeline_process_name(const struct timeline *timeline, const struct export *export, uint32_t number)
{
	const struct xaudit_read_process_info *info =
		xaudit_read_process_info(xaudit_read_process(export->trace, number));
	const char *name = info->exe ? tool_base(info->exe) : info->name;

	return timeline->pid[number] == info->pid ? memory_format("%s", name)
						  : memory_format("%s (%" PRIu32 ")", name, info->pid);
}

/* ---- threads ---- */

const char *timeline_thread_name(struct timeline *timeline, const struct export *export,
	const struct xaudit_read_process *process, uint32_t tid)
{
	for (; timeline->known < xaudit_read_threads(export->trace); timeline->known++) {
		const struct xaudit_read_thread *thread = xaudit_read_thread(export->trace, timeline->known);
		memory_hash(&timeline->threads, hash_key((uintptr_t)thread->process, thread->tid), timeline->known);
	}
	uint32_t number = HASH_FIND(i, &timeline->threads, hash_key((uintptr_t)process, tid),
		xaudit_read_thread(export->trace, i)->process == process &&
			xaudit_read_thread(export->trace, i)->tid == tid);
	const char *name = number == HASH_NONE ? "" : xaudit_read_thread(export->trace, number)->name;
	return *name ? name : NULL;
}

char *timeline_track_name(
	struct timeline *timeline, const struct export *export, const struct export_track *track)
{
	const char *newest = timeline_thread_name(timeline, export, track->process, track->tid);
	struct export_track named = *track;

	named.name = (char *)(newest ? newest : track->name);
	return export_track_name(&named);
}

char *timeline_lane_name(struct timeline *timeline, const struct export *export,
	const struct xaudit_read_process *process, uint32_t tid)
{
	const char *name = timeline_thread_name(timeline, export, process, tid);

	return memory_format("%s %" PRIu32 ", on CPU", name ? name : "thread", tid);
}

const char *timeline_run(const struct xaudit_read_run *run)
{
	switch (run->state) {
	case XAUDIT_READ_RUN_ON:
		return "on CPU";
	case XAUDIT_READ_RUN_PREEMPTED:
		return "preempted";
	case XAUDIT_READ_RUN_UNKNOWN:
		return "not known";
	default:
		return NULL;
	}
}

/* ---- what is no call ---- */

char *timeline_load_name(const struct xaudit_read_event *event)
{
	return memory_format("%s %s", event->what == XAUDIT_READ_EVENT_LOAD ? "load" : "unload",
		tool_base(event->object->path));
}

char *timeline_change_name(const struct xaudit_read_event *event)
{
	char *text;
	size_t size;
	FILE *to;

	if (event->what == XAUDIT_READ_EVENT_CRASH)
		return memory_format("ends by signal %d", event->signal);
	to = memory_need(open_memstream(&text, &size));
	show_change(to, event->change);
	if (fclose(to))
		memory_failed();
	return text;
}

char *timeline_custom_name(const struct xaudit_read_item *item)
{
	if (!item->type)
		return memory_format("type %" PRIu32, item->type_number);
	if (strcmp(item->type, "mark"))
		return memory_format("%s", item->type);
	return memory_text(item->data ? item->data : "", item->data_size);
}

char *timeline_lost_name(const struct xaudit_read_item *item)
{
	if (item->what == XAUDIT_READ_LOST)
		return memory_format("%" PRIu64 " events were lost", item->count);
	return item->count ? memory_format("%" PRIu64 " buffers were overwritten", item->count)
			   : memory_format("buffers were overwritten");
}

char *timeline_counted_name(const struct xaudit_read_item *item)
{
	return memory_format("only counted: %s", names_full(item->function->name));
}
