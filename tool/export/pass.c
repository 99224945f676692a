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
	uint64_t crashes; /* that were told of */
	struct xaudit_read_process *process; /* of the last item */
	uint32_t tid;
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
		bool change = event.what == XAUDIT_READ_EVENT_CHANGE;

		if (load && format->load)
			format->load(export, &event);
		if (change && format->change && is_in(export, event.time))
			format->change(export, &event);
	}
	xaudit_read_events_close(events);
}

/* ---- times on processors ---- */

static void tell_thread(struct export *export, struct xaudit_read_process *process, uint32_t tid)
{
	struct xaudit_read_runs *runs = memory_need(xaudit_read_runs(process, tid, NULL));
	uint64_t from = export->from > export->info->start ? export->from : export->info->start;
	struct xaudit_read_run run;

	while (!broken(export) && xaudit_read_next_run(runs, &run)) {
		run.from = run.from > from ? run.from : from;
		run.to = export->to && run.to > export->to ? export->to : run.to;
		if (run.from < run.to)
			export->format->run(export, process, tid, &run);
	}
	xaudit_read_runs_close(runs);
}

static void tell_runs(struct export *export, const struct export_pass_options *options)
{
	struct xaudit_read_process *process;
	uint32_t tid;

	if (!export->format->run)
		return;
	for (uint32_t i = 0; (process = xaudit_read_process(export->trace, i)); i++)
		for (uint32_t n = 0; !broken(export) && (tid = xaudit_read_process_thread(process, n)); n++)
			if (!options->tid || tid == options->tid)
				tell_thread(export, process, tid);
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
	case XAUDIT_READ_PROBE:
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

/* A crash is the last thing in its process, and no item: the sums tell that there was one before this item. */
static void tell_crash(struct pass *pass, const struct xaudit_read_item *item)
{
	const struct xaudit_read_sums *sums = xaudit_read_calls_sums(pass->export->calls);
	struct xaudit_read_event event = { .what = XAUDIT_READ_EVENT_CRASH, .process = pass->process,
		.tid = pass->tid, .signal = sums->signal };

	if (sums->crashes != pass->crashes && event.process && pass->export->format->change) {
		event.time = xaudit_read_process_info(event.process)->end;
		if (is_in(pass->export, event.time))
			pass->export->format->change(pass->export, &event);
	}
	pass->crashes = sums->crashes;
	pass->process = item->process;
	pass->tid = item->tid;
}

static void tell_calls(struct export *export, const struct export_pass_options *options)
{
	struct pass pass = { .export = export, .options = options };
	bool all = !options->tid && !export->from && !export->to;
	struct xaudit_read_calls_options only = { .size = sizeof(only), .enters = 1,
		.customs = !!export->format->custom, .probes = !!export->format->probe,
		.losses = !!export->format->lost,
		/* It is not known whose they are, or when they were made. */
		.counted = export->format->counted && all,
		.tid = options->tid, .from = export->from, .to = export->to, .values = export->values,
		.requests = export->requests };
	struct xaudit_read_item item;
	uint64_t done, whole;
	uint32_t count = 0;

	export->calls = memory_need(xaudit_read_calls(export->trace, &only, NULL));
	while (!broken(export) && xaudit_read_next_call(export->calls, &item) != XAUDIT_READ_END) {
		tell_crash(&pass, &item);
		take(&pass, &item);
		if (++count & 0xffff)
			continue;
		xaudit_read_calls_done(export->calls, &done, &whole);
		progress(done, whole);
	}
	tell_crash(&pass, &(struct xaudit_read_item){ 0 });
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
		tell_runs(export, options);
	if (!broken(export))
		tell_calls(export, options);
	if (export->format->free_state)
		export->format->free_state(export);
	return !broken(export);
}
