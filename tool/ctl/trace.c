/* SPDX-License-Identifier: MIT */
/* The status that a trace tells, of processes that live or are gone; and the events of a living one. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/ctl/status.h"
#include "tool/show/info.h"
#include "tool/show/open.h"
#include "tool/memory.h"
#include "tool/read/state.h"

#define EVENT_BYTES (64ul << 20) /* to be read, of each process: a tenth of a second */

static void take_sums(struct status *status, struct read_process *process)
{
	struct info_sums sums;

	info_estimate(&sums, process, EVENT_BYTES);
	status->has_events = true;
	status->threads = sums.threads;
	status->events = sums.events;
	status->estimated = sums.estimated;
	status->counted = sums.counted;
	status->lost = sums.lost;
	status->disk = sums.disk;
	status->mode = process->head.mode;
	status->recording = process->head.recording;
	status->switched_off = (process->head.flags & TRACE_OFF) != 0;
}

void status_events(struct status *status)
{
	struct read_folder *folder = status->folder ? show_open_process("ctl", status->folder, status->place) : NULL;

	if (!folder)
		return;
	take_sums(status, folder->process[0]);
	show_need_memory(folder);
	free(status->folder);
	status->folder = memory_text(folder->process[0]->path, strlen(folder->process[0]->path));
	read_folder_close(folder);
}

static void take_object(struct status *status, const struct read_object *object)
{
	struct status_object *to;

	status->object = memory_resize(status->object, status->objects + 1, sizeof(*to));
	to = &status->object[status->objects++];
	*to = (struct status_object){ .path = memory_text(read_object_path(object), strlen(read_object_path(object))) };
	for (uint32_t i = 0; i < object->sites; i++) {
		const struct trace_site_count *site = &object->site[i];
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

static void take(struct status *status, struct read_process *process)
{
	read_process_load(process);
	*status = (struct status){ .pid = process->head.pid,
		.folder = memory_text(process->path, strlen(process->path)) };
	status->end = read_process_state_end(read_process_state(process));
	take_sums(status, process);
	for (uint32_t i = 0; i < read_process_objects(process); i++)
		if (read_process_object(process, i))
			take_object(status, read_process_object(process, i));
}

struct status *status_trace(const char *path, size_t *count, int *damage)
{
	char *meta = memory_format("%s/meta", path), *own = memory_text(path, strlen(path));
	struct read_folder *folder;
	struct status *status = NULL;

	for (size_t n = strlen(own); n > 1 && own[n - 1] == '/'; n--)
		own[n - 1] = '\0';
	folder = access(meta, F_OK) == 0 ? show_open_process("ctl", own, 0) : show_open(own, 0);
	if (folder) {
		*count = folder->processes;
		status = memory_zeroed(folder->processes ? folder->processes : 1, sizeof(*status));
		for (unsigned i = 0; i < folder->processes; i++)
			take(&status[i], folder->process[i]);
		*damage = show_damage(&folder->damage);
		read_folder_close(folder);
	}
	free(meta);
	free(own);
	return status;
}
