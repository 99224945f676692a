/* SPDX-License-Identifier: MIT */
#include "tool/export/pass.h"

#include "tool/base/memory.h"
#include "tool/export/tracks.h"
#include "tool/show/show_trace.h"
#include "tool/show/term/progress.h"

struct pass {
	struct export *export;
	const struct export_pass_options *options;
	struct tracks tracks;
};

static bool broken(const struct export *export)
{
	return export->failed || (export->out.file && ferror(export->out.file));
}

/* ---- loads ---- */

static bool is_in(const struct export *export, uint64_t time)
{
	return time >= export->from && (!export->to || time < export->to);
}

static void tell_loads(struct export *export)
{
	struct xaudit_read_events_options only = { .size = sizeof(only), .loads = 1 };
	const struct export_format *format = export->format;
	struct xaudit_read_events *events;
	struct xaudit_read_event event;

	if (!format->load && !format->change)
		return;
	events = memory_need(xaudit_read_events(export->trace, &only, NULL));
	while (!broken(export) && xaudit_read_next_event(events, &event)) {
		bool load = event.what == XAUDIT_READ_EVENT_LOAD || event.what == XAUDIT_READ_EVENT_UNLOAD;
		bool change = event.what == XAUDIT_READ_EVENT_CHANGE || event.what == XAUDIT_READ_EVENT_CRASH;

		if (load && format->load)
			format->load(export, &event);
		if (change && format->change && is_in(export, event.time))
			format->change(export, &event);
	}
	xaudit_read_events_close(events);
}

/* ---- calls ---- */

static void take_enter(struct pass *pass, const struct xaudit_read_item *item)
{
	struct export_call call = tracks_enter(&pass->tracks, item->call, item->thread);
	struct waiting *waiting = &tracks_one(call.track)->waiting;

	if (pass->options->min) {
		waiting_look(pass->export, waiting, call.track, call.start, pass->options->min);
		waiting_enter(waiting, &call);
	} else if (pass->export->format->enter) {
		pass->export->format->enter(pass->export, &call);
	}
}

static void take_leave(struct pass *pass, const struct xaudit_read_item *item)
{
	if (item->call->how == XAUDIT_READ_POINT)
		take_enter(pass, item);
	struct export_call call = tracks_leave(&pass->tracks, item->call, item->time);
	struct waiting *waiting = &tracks_one(call.track)->waiting;

	if (pass->options->min && !waiting_leave(pass->export, waiting, &call, pass->options->min))
		return;
	if (pass->export->format->leave)
		pass->export->format->leave(pass->export, &call);
}

/* What is no call. */
static void take_event(struct pass *pass, struct xaudit_read_item *item)
{
	struct export *export = pass->export;
	struct tracks_one *one = tracks_of(&pass->tracks, item->call);

	if (!is_in(export, item->time))
		return;
	if (!one && item->tid)
		one = tracks_thread(&pass->tracks, item->process, item->tid, item->thread);
	if (!one) {
		if (export->format->lost)
			export->format->lost(export, NULL, item);
		return;
	}
	item->time = tracks_time(one, item->time);
	waiting_look(export, &one->waiting, &one->track, item->time, pass->options->min);
	waiting_custom(export, &one->waiting, &one->track, item);
}

static void take(struct pass *pass, struct xaudit_read_item *item)
{
	switch (item->what) {
	case XAUDIT_READ_ENTER:
		take_enter(pass, item);
		break;
	case XAUDIT_READ_CALL:
		take_leave(pass, item);
		break;
	case XAUDIT_READ_CUSTOM:
	case XAUDIT_READ_LOST:
	case XAUDIT_READ_GONE:
		take_event(pass, item);
		break;
	case XAUDIT_READ_COUNTED:
		if (pass->export->format->counted)
			pass->export->format->counted(pass->export, item);
		break;
	}
}

static void tell_calls(struct export *export, const struct export_pass_options *options)
{
	struct pass pass = { .export = export, .options = options };
	bool all = !options->tid && !export->from && !export->to;
	struct xaudit_read_calls_options only = { .size = sizeof(only), .enters = 1,
		.customs = !!export->format->custom, .losses = !!export->format->lost,
		/* It is not known whose they are, or when they were made. */
		.counted = export->format->counted && all,
		.tid = options->tid, .from = export->from, .to = export->to, .values = export->values,
		.requests = export->values };
	struct xaudit_read_item item;
	uint64_t done, whole;
	uint32_t count = 0;

	export->calls = memory_need(xaudit_read_calls(export->trace, &only, NULL));
	while (!broken(export) && xaudit_read_next_call(export->calls, &item) != XAUDIT_READ_END) {
		take(&pass, &item);
		if (++count & 0xffff)
			continue;
		xaudit_read_calls_done(export->calls, &done, &whole);
		progress(done, whole);
	}
	progress_end();
	show_trace_need_memory(export->trace);
	if (!broken(export) && export->format->end)
		export->format->end(export);
	xaudit_read_calls_close(export->calls);
	export->calls = NULL;
	tracks_free(&pass.tracks);
}

bool export_pass(struct export *export, const struct export_pass_options *options)
{
	if (export->format->begin)
		export->format->begin(export);
	if (!broken(export))
		tell_loads(export);
	if (!broken(export))
		tell_calls(export, options);
	return !broken(export);
}
