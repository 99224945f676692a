/* SPDX-License-Identifier: MIT */
#include "tool/export/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/export/tracks.h"
#include "tool/show/show.h"

const struct export_format *const export_formats[] = {
	&export_chrome,
	&export_perfetto,
	&export_speedscope,
	&export_folded,
	&export_callgrind,
	&export_pprof,
	&export_uftrace,
	&export_xray,
	&export_ctf,
	&export_sqlite,
	&export_csv,
	&export_ndjson,
	&export_rowbinary,
	NULL,
};

FILE *export_file(struct export *export, const char *name)
{
	FILE *file = out_folder_file("export", export->path, export->folder, name);

	export->failed = export->failed || !file;
	return file;
}

void export_file_end(struct export *export, const char *name, FILE *file)
{
	if (!out_folder_end("export", export->path, name, file))
		export->failed = true;
}

uint64_t export_after(const struct export *export, uint64_t time)
{
	return time > export->info->start ? time - export->info->start : 0;
}

uint64_t export_real(const struct export *export, uint64_t time)
{
	return export->info->start_real ? time - export->info->start + export->info->start_real : time;
}

uint64_t export_duration(const struct export *export, const struct xaudit_read_call *call)
{
	return xaudit_read_calls_ns(export->calls, call->ticks.self + call->ticks.children);
}

const struct xaudit_read_call *export_parent_call(const struct xaudit_read_call *call)
{
	do
		call = call->parent;
	while (call && !tracks_has(call));
	return call;
}

uint64_t export_parent(const struct xaudit_read_call *call)
{
	const struct xaudit_read_call *around = export_parent_call(call);

	return around ? export_id(around) : 0;
}

uint64_t export_around(const struct xaudit_read_item *item)
{
	const struct xaudit_read_call *call = item->call;

	return !call ? 0 : tracks_has(call) ? export_id(call) : export_parent(call);
}

const char *export_how(const struct xaudit_read_call *call)
{
	static const char *const words[] = {
		[XAUDIT_READ_RETURNED] = "returned",
		[XAUDIT_READ_JUMPED] = "jumped",
		[XAUDIT_READ_UNWOUND] = "unwound",
		[XAUDIT_READ_CUT] = "cut",
		[XAUDIT_READ_NO_END] = "unfinished",
		[XAUDIT_READ_OFF] = "switched off",
		[XAUDIT_READ_POINT] = "entry only",
	};

	return call->how < sizeof(words) / sizeof(*words) && words[call->how] ? words[call->how] : "?";
}

char *export_host(struct xaudit_read_process *process)
{
	char *host = show_host(process);

	return host ? host : memory_text("", 0);
}

char *export_track_name(const struct export_track *track)
{
	char *thread = *track->name ? memory_format("%s %" PRIu32, track->name, track->tid)
				    : memory_format("thread %" PRIu32, track->tid);
	char *stack = track->stack ? memory_format("%s, stack %" PRIu32, thread, track->stack) : thread;
	char *name = track->beside ? memory_format("%s (%" PRIu32 ")", stack, track->beside + 1) : stack;

	if (stack != thread)
		free(thread);
	if (name != stack)
		free(stack);
	return name;
}
