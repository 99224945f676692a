/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/html/lanes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/trace.h"
#include "tool/base/memory.h"
#include "tool/html/text.h"
#include "tool/show/event_text.h"
#include "tool/show/probe_text.h"
#include "tool/show/values.h"

#define TEXT_MOST 300 /* bytes of an event's text */

/* ---- events ---- */

static struct lane_type *type_named(struct lanes *lanes, const char *name)
{
	uint32_t hash = hash_text(0, name);
	uint32_t found = HASH_FIND(i, &lanes->by_name, hash, !strcmp(lanes->type[i].name, name));
	if (found != HASH_NONE)
		return &lanes->type[found];
	memory_hash(&lanes->by_name, hash, lanes->types);
	lanes->type = memory_grow(lanes->type, lanes->types, sizeof(*lanes->type));
	lanes->type[lanes->types] = (struct lane_type){ .name = memory_text(name, strlen(name)) };
	return &lanes->type[lanes->types++];
}

static struct lane_type *type_of(struct lanes *lanes, const struct xaudit_read_item *item)
{
	bool is_probe = item->what == XAUDIT_READ_PROBE;
	char *made = is_probe	 ? memory_format("probe %s", item->probe->name)
		     : item->type ? memory_format("%s", item->type)
				  : memory_format("type %" PRIu32, item->type_number);
	struct lane_type *type = type_named(lanes, made);

	free(made);
	return type;
}

static char *text_of(const struct xaudit_read_item *item)
{
	struct html_memory memory;
	uint32_t size = item->data_size;

	html_open(&memory);
	if (item->what == XAUDIT_READ_PROBE) {
		if (item->values)
			values_list(memory.to, item->values, TEXT_MOST);
		fputs(item->values ? " at " : "at ", memory.to);
		probe_place(memory.to, item->probe);
	} else if (event_is_text(item->data, size)) {
		char *text = event_value(item->data, size);
		event_value_text(memory.to, text);
		free(text);
	} else {
		event_text(memory.to, item->data, size, TEXT_MOST);
	}
	html_close(&memory);
	return html_cut(memory.text, TEXT_MOST);
}

/* Marks stay when there are too many: the newest of the others goes. Returns whether there is room. */
static bool make_room(struct lanes *lanes, bool mark)
{
	if (lanes->events < LANES_EVENTS)
		return true;
	if (!lanes->full)
		lanes->marks_from = lanes->events;
	lanes->full = true;
	while (mark && lanes->marks_from) {
		struct lane_event *event = &lanes->event[--lanes->marks_from];
		if (event->mark)
			continue;
		lanes->type[event->type].kept--;
		free(event->text);
		*event = lanes->event[--lanes->events];
		return true;
	}
	return false;
}

void lanes_event(struct lanes *lanes, struct html *html, const struct xaudit_read_item *item)
{
	struct lane_type *type = type_of(lanes, item);
	struct lane_event event = { .time = html_after(html->start, item->time),
		.type = (uint32_t)(type - lanes->type), .tid = item->tid,
		.mark = item->what == XAUDIT_READ_CUSTOM && item->type_number == TRACE_TYPE_MARK };

	type->count++;
	type->bytes += item->data_size;
	lanes->all_events++;
	if (!make_room(lanes, event.mark))
		return;
	event.track = item->call ? page_tracks_of(&html->tracks, item->call) :
				   page_tracks_find(&html->tracks, item->process, item->tid, 0);
	event.text = text_of(item);
	type->kept++;
	lanes->event = memory_grow(lanes->event, lanes->events, sizeof(*lanes->event));
	lanes->event[lanes->events++] = event;
}

static int by_time(const void *x, const void *y)
{
	const struct lane_event *a = x, *b = y;

	return a->time < b->time ? -1 : a->time > b->time;
}

static uint64_t place_of(const struct track *track)
{
	return track && track->place != TRACKS_NONE ? track->place : UINT64_MAX;
}

/* A list of numbers, of what `of` gives of each; UINT64_MAX is -1. */
static void write_list(FILE *to, const char *key, uint32_t count, uint64_t (*of)(const void *lanes, uint32_t i),
	const void *lanes)
{
	fprintf(to, ",\n\"%s\":[", key);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t number = of(lanes, i);
		if (number == UINT64_MAX)
			fputs(i ? ",-1" : "-1", to);
		else
			fprintf(to, "%s%" PRIu64, i ? "," : "", number);
	}
	putc(']', to);
}

/* What write_list() asks for, of a list in a structure: an expression of `one`. */
#define LIST_OF(name, owner, list, expression)                                \
	static uint64_t name(const void *all, uint32_t i)                     \
	{                                                                     \
		const __typeof__(((const owner *)all)->list[0]) *one = &((const owner *)all)->list[i]; \
		return expression;                                            \
	}
LIST_OF(event_type_of, struct lanes, event, one->type)
LIST_OF(event_time, struct lanes, event, one->time)
LIST_OF(event_track, struct lanes, event, place_of(one->track))
LIST_OF(event_tid, struct lanes, event, one->tid)
LIST_OF(event_mark, struct lanes, event, one->mark)
LIST_OF(request_from, struct lanes, request, one->from)
LIST_OF(request_to, struct lanes, request, one->to)
LIST_OF(request_track, struct lanes, request, place_of(one->track))

static void write_events(struct lanes *lanes, struct blocks *blocks)
{
	struct html_memory memory;

	if (!lanes->types)
		return;
	if (lanes->events)
		qsort(lanes->event, lanes->events, sizeof(*lanes->event), by_time);
	html_open(&memory);
	fputs("{\"types\":[", memory.to);
	for (uint32_t i = 0; i < lanes->types; i++) {
		html_member(memory.to, i ? ",{" : "{", "name", lanes->type[i].name);
		html_number(memory.to, ",", "count", lanes->type[i].count);
		html_number(memory.to, ",", "bytes", lanes->type[i].bytes);
		html_number(memory.to, ",", "kept", lanes->type[i].kept);
		putc('}', memory.to);
	}
	putc(']', memory.to);
	write_list(memory.to, "type", lanes->events, event_type_of, lanes);
	write_list(memory.to, "time", lanes->events, event_time, lanes);
	write_list(memory.to, "track", lanes->events, event_track, lanes);
	write_list(memory.to, "tid", lanes->events, event_tid, lanes);
	write_list(memory.to, "mark", lanes->events, event_mark, lanes);
	fputs(",\n\"text\":[", memory.to);
	for (uint32_t i = 0; i < lanes->events; i++) {
		fputs(i ? "," : "", memory.to);
		html_string(memory.to, lanes->event[i].text);
	}
	fputs("]}", memory.to);
	html_close(&memory);
	blocks_add(blocks, "events", memory.text, memory.size);
}

/* ---- requests ---- */

static int by_length(const void *x, const void *y)
{
	const struct lane_request *a = x, *b = y;
	uint64_t left = a->to - a->from, right = b->to - b->from;

	return left > right ? -1 : left < right ? 1 : a->from < b->from ? -1 : a->from > b->from;
}

static int by_begin(const void *x, const void *y)
{
	const struct lane_request *a = x, *b = y;

	return a->from < b->from ? -1 : a->from > b->from;
}

/* Keeps the longest. */
static void cut_requests(struct lanes *lanes)
{
	if (lanes->requests <= LANES_REQUESTS)
		return;
	qsort(lanes->request, lanes->requests, sizeof(*lanes->request), by_length);
	while (lanes->requests > LANES_REQUESTS)
		free(lanes->request[--lanes->requests].text);
}

void lanes_request(
	struct lanes *lanes, const struct xaudit_read_call *call, struct track *track, uint64_t from, uint64_t to)
{
	/* In a call of the same request it is a part of that. */
	if (call->parent && call->parent->request == call->request)
		return;
	lanes->all_requests++;
	if (lanes->requests == 2 * LANES_REQUESTS)
		cut_requests(lanes);
	lanes->request = memory_grow(lanes->request, lanes->requests, sizeof(*lanes->request));
	lanes->request[lanes->requests++] = (struct lane_request){ from, to, track,
		memory_text(call->request, strlen(call->request)) };
}

static void write_requests(struct lanes *lanes, struct blocks *blocks)
{
	struct html_memory memory;

	cut_requests(lanes);
	if (!lanes->requests)
		return;
	qsort(lanes->request, lanes->requests, sizeof(*lanes->request), by_begin);
	html_open(&memory);
	html_number(memory.to, "{", "count", lanes->all_requests);
	write_list(memory.to, "track", lanes->requests, request_track, lanes);
	write_list(memory.to, "from", lanes->requests, request_from, lanes);
	write_list(memory.to, "to", lanes->requests, request_to, lanes);
	fputs(",\n\"text\":[", memory.to);
	for (uint32_t i = 0; i < lanes->requests; i++) {
		fputs(i ? "," : "", memory.to);
		html_string(memory.to, lanes->request[i].text);
	}
	fputs("]}", memory.to);
	html_close(&memory);
	blocks_add(blocks, "requests", memory.text, memory.size);
}

/* ---- loads ---- */

struct load {
	uint64_t time;
	uint32_t process, object, tid;
	bool loads;
};

struct loads {
	struct load load[LANES_LOADS];
	uint32_t loads, objects, room;
	uint64_t count;
	const struct xaudit_read_object **object;
	struct hash by_object;
};

static uint32_t object_of(struct loads *loads, const struct xaudit_read_object *object)
{
	uint32_t hash = hash_key((uintptr_t)object, 0);
	uint32_t found = HASH_FIND(i, &loads->by_object, hash, loads->object[i] == object);

	if (found != HASH_NONE)
		return found;
	loads->object = memory_grow(loads->object, loads->objects, sizeof(*loads->object));
	memory_hash(&loads->by_object, hash, loads->objects);
	loads->object[loads->objects] = object;
	return loads->objects++;
}

static void take_load(struct loads *loads, const struct html *html, const struct xaudit_read_event *event)
{
	uint64_t after = html_after(html->start, event->time);
	const struct view_options *only = &html->options;

	if (event->inherited || after < only->from || (only->to && after >= only->to) ||
		(only->tid && event->tid != only->tid))
		return;
	if (loads->count++ >= LANES_LOADS)
		return;
	uint32_t process = 0;
	while (xaudit_read_process(html->trace, process) != event->process)
		process++;
	loads->load[loads->loads++] = (struct load){ after, process, object_of(loads, event->object), event->tid,
		event->what == XAUDIT_READ_EVENT_LOAD };
}

LIST_OF(load_what, struct loads, load, one->loads)
LIST_OF(load_time, struct loads, load, one->time)
LIST_OF(load_process, struct loads, load, one->process)
LIST_OF(load_object, struct loads, load, one->object)
LIST_OF(load_tid, struct loads, load, one->tid)

static void write_loads(const struct loads *loads, struct blocks *blocks)
{
	struct html_memory memory;

	html_open(&memory);
	fputs("{\"objects\":[", memory.to);
	for (uint32_t i = 0; i < loads->objects; i++) {
		fputs(i ? "," : "", memory.to);
		html_string(memory.to, loads->object[i]->path);
	}
	html_number(memory.to, "],", "count", loads->count);
	write_list(memory.to, "what", loads->loads, load_what, loads);
	write_list(memory.to, "time", loads->loads, load_time, loads);
	write_list(memory.to, "process", loads->loads, load_process, loads);
	write_list(memory.to, "object", loads->loads, load_object, loads);
	write_list(memory.to, "tid", loads->loads, load_tid, loads);
	putc('}', memory.to);
	html_close(&memory);
	blocks_add(blocks, "loads", memory.text, memory.size);
}

static void find_loads(const struct html *html, struct blocks *blocks)
{
	const struct xaudit_read_events_options options = { .size = sizeof(options), .loads = 1 };
	struct xaudit_read_events *events = memory_need(xaudit_read_events(html->trace, &options, NULL));
	struct loads *loads = memory_zeroed(1, sizeof(*loads));
	struct xaudit_read_event event;

	while (xaudit_read_next_event(events, &event) != XAUDIT_READ_EVENT_END)
		if (event.what == XAUDIT_READ_EVENT_LOAD || event.what == XAUDIT_READ_EVENT_UNLOAD)
			take_load(loads, html, &event);
	xaudit_read_events_close(events);
	if (loads->loads)
		write_loads(loads, blocks);
	free(loads->object);
	hash_free(&loads->by_object);
	free(loads);
}

/* ---- all ---- */

void lanes_write(struct lanes *lanes, struct html *html)
{
	write_events(lanes, &html->blocks);
	write_requests(lanes, &html->blocks);
	find_loads(html, &html->blocks);
}

void lanes_close(struct lanes *lanes)
{
	for (uint32_t i = 0; i < lanes->events; i++)
		free(lanes->event[i].text);
	for (uint32_t i = 0; i < lanes->types; i++)
		free(lanes->type[i].name);
	for (uint32_t i = 0; i < lanes->requests; i++)
		free(lanes->request[i].text);
	hash_free(&lanes->by_name);
	free(lanes->event);
	free(lanes->type);
	free(lanes->request);
}
