/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/status_trace.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/ctl/status.h"
#include "tool/show/info.h"
#include "tool/show/show.h"
#include "tool/show/show_trace.h"

#define EVENT_BYTES (64ul << 20) /* to be read, of each process: a tenth of a second */

static void take_amounts(struct status *status, struct xaudit_read_process *process)
{
	const struct xaudit_read_head *head = xaudit_read_process_head(process);
	struct xaudit_read_amounts amounts = { .size = sizeof(amounts) };

	xaudit_read_process_amounts(process, EVENT_BYTES, &amounts);
	status->has_events = true;
	status->threads = amounts.threads;
	status->events = amounts.events;
	status->estimated = amounts.estimated;
	status->counted = amounts.counted;
	status->lost = amounts.lost;
	status->disk = amounts.disk;
	status->mode = head->mode;
	status->recording = head->recording && !head->off && !status->why;
	status->switched_off = head->off;
}

/* The path that names a process. */
static char *path_of(const struct xaudit_read_trace *trace, struct xaudit_read_process *process)
{
	return memory_format("%s/%s", xaudit_read_trace_info(trace)->path, xaudit_read_process_head(process)->name);
}

void status_events(struct status *status)
{
	struct xaudit_read_trace *trace =
		status->folder ? show_trace_process("ctl", status->folder, status->place) : NULL;

	if (!trace)
		return;
	struct xaudit_read_process *process = xaudit_read_process(trace, 0);
	take_amounts(status, process);
	show_trace_need_memory(trace);
	free(status->folder);
	status->folder = path_of(trace, process);
	xaudit_read_close(trace);
}

static void take_object(struct status *status, const struct xaudit_read_process_object *object)
{
	struct status_object *to;

	status->object = memory_resize(status->object, status->objects + 1, sizeof(*to));
	to = &status->object[status->objects++];
	*to = (struct status_object){ .path = memory_text(object->path, strlen(object->path)) };
	for (uint32_t i = 0; i < object->sites; i++) {
		const struct xaudit_read_sites *site = &object->site[i];
		if (site->kind >= TRACE_KIND_COUNT)
			continue;
		bool on = site->reason == TRACE_REASON_TRACED || site->reason == TRACE_REASON_ENTRY_ONLY;
		/* Functions that were just not asked for could be switched. */
		if (on || site->reason == TRACE_REASON_NOT_SELECTED || site->reason == TRACE_REASON_DISABLED)
			to->kind[site->kind].functions += site->count;
		if (on)
			to->kind[site->kind].on += site->count;
	}
	to->has_pages = object->has_pages;
	to->text = object->text_pages;
	to->patched = object->patched_pages;
	to->private_kb = info_private(object) / 1024;
}

static void take(struct status *status, struct xaudit_read_trace *trace, struct xaudit_read_process *process)
{
	const struct xaudit_read_facts *facts = xaudit_read_process_facts(process);

	if (!facts)
		memory_failed();
	*status = (struct status){
		.pid = xaudit_read_process_head(process)->pid,
		.folder = path_of(trace, process),
		.end = show_state_end(xaudit_read_process_state(process)),
	};
	take_amounts(status, process);
	status->recording &= !status->end;
	for (uint32_t i = 0; i < facts->objects; i++)
		take_object(status, xaudit_read_process_object(process, i));
}

struct status *status_trace(const char *path, size_t *count, int *damage)
{
	char *meta = memory_format("%s/meta", path), *own = memory_text(path, strlen(path));
	struct xaudit_read_trace *trace;
	struct status *status = NULL;

	for (size_t n = strlen(own); n > 1 && own[n - 1] == '/'; n--)
		own[n - 1] = '\0';
	trace = access(meta, F_OK) == 0 ? show_trace_process("ctl", own, 0) : show_trace(own, 0);
	if (trace) {
		uint32_t processes = xaudit_read_trace_info(trace)->processes;
		*count = processes;
		status = memory_zeroed(processes, sizeof(*status));
		for (uint32_t i = 0; i < processes; i++)
			take(&status[i], trace, xaudit_read_process(trace, i));
		*damage = show_trace_damage(trace);
		xaudit_read_close(trace);
	}
	free(meta);
	free(own);
	return status;
}
