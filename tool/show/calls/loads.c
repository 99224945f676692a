/* SPDX-License-Identifier: MIT */
/*
 * xaudit loads: the life of every library: when it came and went, and how often it was called meanwhile.
 *
 * One pass over all events in the order of time. A forked process has the libraries of its parent: its calls in them
 * count for the parent's load, of which the trace tells again, with the same number and time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/json.h"
#include "tool/memory.h"
#include "tool/show/calls/view.h"
#include "tool/show/open.h"
#include "tool/tool.h"

#define UNKNOWN XAUDIT_READ_UNKNOWN
#define NONE	UINT32_MAX

/* A library, from its load to its unload. */
struct life {
	struct xaudit_read_process *process;
	const struct xaudit_read_object *object;
	uint32_t number; /* of the load in the process; 0: the load is not in the trace */
	uint32_t before; /* the life that was the process's last of this object; NONE */
	uint32_t tid;	 /* the thread that loaded it */
	uint64_t from, to; /* to UNKNOWN: it was not unloaded */
	uint64_t calls;
};

/* The last life of an object in a process, if it has not ended. */
struct slot {
	const struct xaudit_read_process *process; /* NULL: empty */
	const struct xaudit_read_object *object;
	uint32_t life; /* NONE */
};

/* dlopen, or dlclose. */
struct loader_calls {
	uint64_t calls, timed, time;
};

struct own {
	struct view_options options;
	struct xaudit_read_trace *trace;
	const struct show_colors *color;
	uint64_t from, to; /* 0: not given */
	struct life *life;
	uint32_t lives, lives_room;
	struct slot *slot;
	uint32_t slots, used; /* slots: a power of two, or 0 */
	struct loader_calls opens, closes;
};

/* ---- lives ---- */

static uint32_t hash_of(const void *process, const void *object)
{
	uint64_t h = ((uint64_t)(uintptr_t)process * 3 ^ (uint64_t)(uintptr_t)object) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(h >> 32);
}

static struct slot *find_slot(
	const struct own *own, const struct xaudit_read_process *process, const struct xaudit_read_object *object)
{
	uint32_t at = hash_of(process, object) & (own->slots - 1);

	while (own->slot[at].process && (own->slot[at].process != process || own->slot[at].object != object))
		at = (at + 1) & (own->slots - 1);
	return &own->slot[at];
}

static void grow_slots(struct own *own)
{
	struct slot *old = own->slot;
	uint32_t slots = own->slots;

	own->slots = slots ? slots * 2 : 256;
	own->slot = memory_zeroed(own->slots, sizeof(*own->slot));
	for (uint32_t i = 0; i < slots; i++)
		if (old[i].process)
			*find_slot(own, old[i].process, old[i].object) = old[i];
	free(old);
}

/* The slot of an object in a process, made if there is none. Valid until the next one is made. */
static struct slot *slot_of(
	struct own *own, struct xaudit_read_process *process, const struct xaudit_read_object *object)
{
	if (own->used * 2 >= own->slots)
		grow_slots(own);
	struct slot *slot = find_slot(own, process, object);
	if (!slot->process) {
		*slot = (struct slot){ process, object, NONE };
		own->used++;
	}
	return slot;
}

static uint32_t new_life(struct own *own, const struct life *life)
{
	if (own->lives == own->lives_room) {
		own->lives_room = own->lives_room ? own->lives_room * 2 : 64;
		own->life = memory_resize(own->life, own->lives_room, sizeof(*own->life));
	}
	own->life[own->lives] = *life;
	return own->lives++;
}

/* The life of the same load in the process that this one was forked from; NONE: it is this one's own load. */
static uint32_t find_inherited(struct own *own, const struct xaudit_read_event *event)
{
	uint32_t parent = xaudit_read_process_info(event->process)->parent;
	struct xaudit_read_process *process;

	for (uint32_t i = 0; (process = xaudit_read_process(own->trace, i)) && process != event->process; i++) {
		if (xaudit_read_process_info(process)->pid != parent)
			continue;
		for (uint32_t at = slot_of(own, process, event->object)->life; at != NONE; at = own->life[at].before)
			if (own->life[at].number == event->load && own->life[at].from == event->time)
				return at;
	}
	return NONE;
}

static void load(struct own *own, const struct xaudit_read_event *event)
{
	uint32_t life = find_inherited(own, event);

	if (life == NONE)
		life = new_life(own, &(struct life){
			.process = event->process,
			.object = event->object,
			.number = event->load,
			.before = slot_of(own, event->process, event->object)->life,
			.tid = event->tid,
			.from = event->time,
			.to = UNKNOWN,
		});
	slot_of(own, event->process, event->object)->life = life;
}

static void unload(struct own *own, const struct xaudit_read_event *event)
{
	struct slot *slot = slot_of(own, event->process, event->object);
	uint32_t at = slot->life;

	while (at != NONE && own->life[at].number != event->load)
		at = own->life[at].before;
	/* That a forked process unloads is nothing to its parent, whose load it is. */
	if (at != NONE && own->life[at].process == event->process)
		own->life[at].to = event->time;
	if (at == slot->life)
		while (slot->life != NONE && (slot->life == at || own->life[slot->life].to != UNKNOWN))
			slot->life = own->life[slot->life].before;
}

/* ---- calls ---- */

static bool is_wanted(const struct own *own, const struct xaudit_read_event *event)
{
	return (!own->options.tid || own->options.tid == event->tid) && event->time >= own->from &&
	       (!own->to || event->time < own->to);
}

static struct loader_calls *loader_calls_of(struct own *own, const struct xaudit_read_function *function)
{
	if (function->name[0] != 'd' || function->name[1] != 'l')
		return NULL;
	if (!strcmp(function->name, "dlopen") || !strcmp(function->name, "dlmopen"))
		return &own->opens;
	return strcmp(function->name, "dlclose") ? NULL : &own->closes;
}

static void count_call(struct own *own, const struct xaudit_read_event *event)
{
	struct loader_calls *loader = loader_calls_of(own, event->function);
	struct slot *slot = slot_of(own, event->process, event->object);

	if (loader)
		loader->calls++;
	if (slot->life == NONE)
		slot->life = new_life(own, &(struct life){ .process = event->process, .object = event->object,
			.before = NONE, .from = UNKNOWN, .to = UNKNOWN });
	own->life[slot->life].calls++;
}

static void end_calls(struct own *own, const struct xaudit_read_event *event)
{
	const struct xaudit_read_call *call = event->call;

	for (uint32_t i = 0; i < event->ends && call; i++, call = call->parent) {
		struct loader_calls *loader = loader_calls_of(own, call->function);
		if (!loader || call->end == UNKNOWN)
			continue;
		loader->timed++;
		loader->time += call->end - call->start;
	}
}

static void read_events(struct own *own)
{
	struct xaudit_read_error error;
	struct xaudit_read_events *events = memory_need(xaudit_read_events(own->trace, NULL, &error));
	struct xaudit_read_event event;

	while (xaudit_read_next_event(events, &event) != XAUDIT_READ_EVENT_END) {
		switch (event.what) {
		case XAUDIT_READ_EVENT_LOAD:
			load(own, &event);
			break;
		case XAUDIT_READ_EVENT_UNLOAD:
			unload(own, &event);
			break;
		case XAUDIT_READ_EVENT_ENTRY:
		case XAUDIT_READ_EVENT_POINT:
			if (is_wanted(own, &event))
				count_call(own, &event);
			break;
		case XAUDIT_READ_EVENT_EXIT:
		case XAUDIT_READ_EVENT_TAIL:
		case XAUDIT_READ_EVENT_UNWIND:
			end_calls(own, &event);
			break;
		}
	}
	xaudit_read_events_close(events);
}

/* Was it there at some moment between --from and --to? */
static bool is_shown(const struct own *own, const struct life *life)
{
	return (life->to == UNKNOWN || life->to >= own->from) &&
	       (!own->to || life->from == UNKNOWN || life->from < own->to);
}

static uint64_t after_start(const struct own *own, uint64_t time)
{
	uint64_t start = xaudit_read_trace_info(own->trace)->start;

	return time > start ? time - start : 0;
}

/* ---- table ---- */

static void print_life(const struct own *own, const struct life *life)
{
	uint64_t after = after_start(own, life->from);

	if (life->from == UNKNOWN)
		printf("%15s", "-");
	else
		printf("%5" PRIu64 ".%09u", after / 1000000000, (unsigned)(after % 1000000000));
	fputs("  ", stdout);
	view_print_time(life->to != UNKNOWN && life->from != UNKNOWN, life->to - life->from);
	printf("  %10" PRIu64 "  %7" PRIu32 "  %s", life->calls, life->tid, own->color->name);
	term_text(stdout, life->object->path);
	printf("%s\n", own->color->off);
}

static void say_calls(const char *name, const struct loader_calls *calls)
{
	char buf[SHOW_TIME_SIZE];

	if (!calls->calls)
		return;
	printf("%" PRIu64 " calls of %s", calls->calls, name);
	if (calls->timed)
		printf(", of which %" PRIu64 " took %s", calls->timed, show_time(buf, calls->time));
	putchar('\n');
}

static void print_table(const struct own *own)
{
	printf("%s%15s  %11s  %10s  %7s  %s%s\n", own->color->head, "After start, s", "Loaded for", "Calls", "Thread",
		"Library", own->color->off);
	printf("===============  ===========  ==========  =======  ====================\n");
	for (uint32_t i = 0; i < own->lives && !show_output_broken(); i++)
		if (is_shown(own, &own->life[i]))
			print_life(own, &own->life[i]);
	term_rows(false);
	if (own->opens.calls || own->closes.calls)
		putchar('\n');
	say_calls("dlopen", &own->opens);
	say_calls("dlclose", &own->closes);
}

/* ---- JSON ---- */

static void json_number(const char *name, bool known, uint64_t number)
{
	if (known)
		printf(",\"%s\":%" PRIu64, name, number);
	else
		printf(",\"%s\":null", name);
}

static void print_json(const struct own *own)
{
	bool some = false;

	printf("{\"loads\":[");
	for (uint32_t i = 0; i < own->lives && !show_output_broken(); i++) {
		const struct life *life = &own->life[i];

		if (!is_shown(own, life))
			continue;
		printf("%s\n{\"library\":", some ? "," : "");
		json_string(stdout, life->object->path);
		printf(",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, xaudit_read_process_info(life->process)->pid,
			life->tid);
		json_number("load_ns", life->from != UNKNOWN, life->from);
		json_number("after_start_ns", life->from != UNKNOWN, after_start(own, life->from));
		json_number("unload_ns", life->to != UNKNOWN, life->to);
		json_number("loaded_for_ns", life->to != UNKNOWN && life->from != UNKNOWN,
			life->to - life->from);
		printf(",\"calls\":%" PRIu64 "}", life->calls);
		some = true;
	}
	printf("\n],\"dlopen_calls\":%" PRIu64 ",\"dlclose_calls\":%" PRIu64 "}\n", own->opens.calls,
		own->closes.calls);
}

/* ---- the command ---- */

static const struct options_row rows[] = {
	SHOW_FORMAT("table or json", "table (default) or json"),
	VIEW_ROWS
};

static const struct options_syntax syntax = {
	.command = "loads",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit loads [OPTION]... [DIR]\n"
		"Shows when libraries were loaded and unloaded, and how often they were called, from the\n"
		"trace in DIR (default: xaudit.data).\n"
		"\n"
		"Options:\n",
};

int loads_main(int argc, char **argv)
{
	struct own own = { 0 };
	int status = show_begin(&own.options.show, &syntax, argc, argv);

	if (status >= 0)
		return status;
	own.color = show_colors(&own.options.show);
	own.trace = show_trace(own.options.show.dir, own.options.show.pid);
	if (!own.trace)
		return TOOL_FAILED;
	own.from = view_from(own.trace, &own.options);
	own.to = view_to(own.trace, &own.options);
	read_events(&own);
	if (own.options.show.json)
		print_json(&own);
	else
		print_table(&own);
	free(own.life);
	free(own.slot);
	return show_end_trace(own.trace);
}
