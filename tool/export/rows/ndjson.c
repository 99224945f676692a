/* SPDX-License-Identifier: MIT */
/* The format ndjson of `xaudit export`: an object per line, for a call and all else, times in ns. One thread. */
#include <inttypes.h>
#include <stdlib.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/export/format.h"
#include "tool/export/rows/buffer.h"
#include "tool/show/event_text.h"
#include "tool/show/term/names.h"
#include "tool/show/values.h"

struct ndjson {
	struct buffer line;
	struct buffers function; /* by number: its members; empty: not yet made */
	const struct xaudit_read_process *process; /* whose members these are: */
	struct buffer of_process;
	const struct export_track *track; /* and whose this name: */
	struct buffer of_track;
};

/* What json.h writes, as a member or not. */
static void put_json(struct buffer *to, const char *before, const char *text)
{
	char *json = NULL;
	size_t size = 0;
	FILE *file = memory_need(open_memstream(&json, &size));

	json_string(file, text);
	if (fclose(file))
		memory_failed();
	buffer_text(to, before);
	buffer_bytes(to, json, size);
	free(json);
}

static void put_number(struct buffer *to, const char *before, uint64_t number)
{
	buffer_text(to, before);
	buffer_number(to, number);
}

static void put_known(struct buffer *to, const char *before, bool known, uint64_t number)
{
	buffer_text(to, before);
	if (known)
		buffer_number(to, number);
	else
		buffer_text(to, "null");
}

static void begin(struct export *export)
{
	export->state = memory_zeroed(1, sizeof(struct ndjson));
}

/* ---- what lines share ---- */

static struct buffer *begin_line(struct ndjson *ndjson, const char *what, struct xaudit_read_process *process)
{
	const struct xaudit_read_process_info *info = xaudit_read_process_info(process);
	struct buffer *line = &ndjson->line;

	if (ndjson->process != process) {
		ndjson->process = process;
		ndjson->of_process.size = 0;
		char *host = export_host(process);
		put_json(&ndjson->of_process, "\",\"host\":", *host ? host : NULL);
		free(host);
		put_json(&ndjson->of_process, ",\"program\":", info->exe);
		put_number(&ndjson->of_process, ",\"pid\":", info->pid);
	}
	buffer_text(line, "{\"what\":\"");
	buffer_text(line, what);
	buffer_bytes(line, ndjson->of_process.data, ndjson->of_process.size);
	return line;
}

static void put_track(struct ndjson *ndjson, const struct export_track *track, uint32_t tid)
{
	put_number(&ndjson->line, ",\"tid\":", tid);
	if (ndjson->track != track) {
		ndjson->track = track;
		ndjson->of_track.size = 0;
		put_json(&ndjson->of_track, ",\"thread\":", track->name);
		put_number(&ndjson->of_track, ",\"track\":", track->number);
	}
	buffer_bytes(&ndjson->line, ndjson->of_track.data, ndjson->of_track.size);
}

static void put_moment(const struct export *export, struct buffer *line, uint64_t time)
{
	if (export->info->start_real) {
		buffer_text(line, ",\"time\":\"");
		buffer_moment(line, export_real(export, time));
		buffer_char(line, '"');
	} else {
		buffer_text(line, ",\"time\":null");
	}
	put_number(line, ",\"start_ns\":", export_after(export, time));
}

static void put_function(struct ndjson *ndjson, const struct xaudit_read_function *function)
{
	struct buffer *members = buffers_one(&ndjson->function, function->number);

	if (!members->size) {
		put_json(members, ",\"function\":", names_full(function->name));
		put_json(members, ",\"symbol\":", function->name);
		put_json(members, ",\"library\":", function->object->path);
	}
	buffer_bytes(&ndjson->line, members->data, members->size);
}

static void end_line(struct export *export)
{
	struct ndjson *ndjson = export->state;

	buffer_text(&ndjson->line, "}\n");
	if (ndjson->line.size >= 1u << 16)
		buffer_write(&ndjson->line, export->out.file);
}

/* ---- lines ---- */

static void leave(struct export *export, const struct export_call *is)
{
	const struct xaudit_read_call *call = is->call;
	struct ndjson *ndjson = export->state;
	struct buffer *line = begin_line(ndjson, "call", call->process);
	uint64_t parent = export_parent(call);

	put_track(ndjson, is->track, call->tid);
	put_number(line, ",\"id\":", export_id(call));
	put_known(line, ",\"parent\":", parent, parent);
	put_number(line, ",\"depth\":", is->depth);
	put_moment(export, line, is->start);
	put_known(line, ",\"duration_ns\":", is->known, export_duration(export, call));
	put_number(line, ",\"self_ns\":", call->self);
	put_known(line, ",\"cpu_ns\":", call->cpu != XAUDIT_READ_UNKNOWN, call->cpu);
	buffer_text(line, ",\"how\":\"");
	buffer_text(line, export_how(call));
	buffer_char(line, '"');
	put_function(ndjson, call->function);
	if (call->request)
		put_json(line, ",\"request\":", call->request);
	if (export->values && (call->entered || call->ended)) {
		buffer_write(line, export->out.file);
		values_json(export->out.file, "entered", call->entered);
		values_json(export->out.file, "ended", call->ended);
	}
	end_line(export);
}

static void custom(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	const struct event_format *format = event_format_find(&export->events, item->type, item->type_number);
	struct ndjson *ndjson = export->state;
	struct buffer *line = begin_line(ndjson, "event", item->process);
	uint64_t call = export_around(item);
	FILE *file = export->out.file;

	put_track(ndjson, track, item->tid);
	put_known(line, ",\"call\":", call, call);
	put_moment(export, line, item->time);
	put_json(line, ",\"type\":", item->type);
	put_number(line, ",\"type_number\":", item->type_number);
	put_number(line, ",\"size\":", item->data_size);
	buffer_text(line, ",\"data\":\"");
	buffer_write(line, file);
	event_base64(file, item->data, item->data_size);
	putc_unlocked('"', file);
	if (event_is_text(item->data, item->data_size)) {
		char *text = event_value(item->data, item->data_size);
		put_json(line, ",\"text\":", text);
		buffer_write(line, file);
		free(text);
	}
	if (format) {
		putc_unlocked(',', file);
		event_format_json(file, format, item->data, item->data_size);
	}
	end_line(export);
}

static void probe(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	const struct xaudit_read_probe *is = item->probe;
	struct ndjson *ndjson = export->state;
	struct buffer *line = begin_line(ndjson, "probe", item->process);
	uint64_t call = export_around(item);
	struct xaudit_read_symbol symbol;

	xaudit_read_probe_symbol(is, &symbol);
	put_track(ndjson, track, item->tid);
	put_known(line, ",\"call\":", call, call);
	put_moment(export, line, item->time);
	put_json(line, ",\"probe\":", is->name);
	put_json(line, ",\"function\":", symbol.name ? names_full(symbol.name) : NULL);
	put_json(line, ",\"symbol\":", symbol.name);
	put_json(line, ",\"library\":", is->object->path);
	put_number(line, ",\"offset\":", is->offset);
	put_known(line, ",\"start\":", symbol.name, symbol.start);
	if (item->values) {
		buffer_write(line, export->out.file);
		values_json(export->out.file, "values", item->values);
	}
	end_line(export);
}

static void lost(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	struct ndjson *ndjson = export->state;
	bool events = item->what == XAUDIT_READ_LOST;
	struct buffer *line = begin_line(ndjson, events ? "lost" : "overwritten", item->process);

	if (track)
		put_track(ndjson, track, item->tid);
	put_moment(export, line, item->time);
	put_number(line, events ? ",\"events\":" : ",\"buffers\":", item->count);
	end_line(export);
}

static void counted(struct export *export, const struct xaudit_read_item *item)
{
	struct ndjson *ndjson = export->state;
	struct buffer *line = begin_line(ndjson, "counted", item->process);

	put_function(ndjson, item->function);
	put_number(line, ",\"calls\":", item->count);
	end_line(export);
}

static void load(struct export *export, const struct xaudit_read_event *event)
{
	bool loaded = event->what == XAUDIT_READ_EVENT_LOAD;
	struct buffer *line = begin_line(export->state, loaded ? "load" : "unload", event->process);

	put_number(line, ",\"tid\":", event->tid);
	put_moment(export, line, event->time);
	put_json(line, ",\"library\":", event->object->path);
	put_json(line, ",\"build_id\":", event->object->build_id);
	put_number(line, ",\"load\":", event->load);
	buffer_text(line, event->inherited ? ",\"inherited\":true" : "");
	end_line(export);
}

static void change(struct export *export, const struct xaudit_read_event *event)
{
	bool crash = event->what == XAUDIT_READ_EVENT_CRASH;
	struct buffer *line = begin_line(export->state, crash ? "crash" : "change", event->process);

	put_number(line, ",\"tid\":", event->tid);
	put_moment(export, line, event->time);
	if (crash) {
		put_number(line, ",\"signal\":", (uint64_t)event->signal);
	} else {
		put_json(line, ",\"change\":", event->change->word);
		put_number(line, ",\"value\":", event->change->value);
		put_json(line, ",\"text\":", event->change->text);
	}
	end_line(export);
}

static void end(struct export *export)
{
	struct ndjson *ndjson = export->state;

	buffer_write(&ndjson->line, export->out.file);
}

static void free_state(struct export *export)
{
	struct ndjson *ndjson = export->state;

	buffer_free(&ndjson->line);
	buffer_free(&ndjson->of_process);
	buffer_free(&ndjson->of_track);
	buffers_free(&ndjson->function);
	free(ndjson);
}

const struct export_format export_ndjson = {
	.name = "ndjson",
	.help = "a JSON object per call, event and load, one a line",
	.text = true,
	.begin = begin,
	.load = load,
	.change = change,
	.leave = leave,
	.probe = probe,
	.custom = custom,
	.lost = lost,
	.counted = counted,
	.end = end,
	.free_state = free_state,
};
