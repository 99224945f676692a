/* SPDX-License-Identifier: MIT */
/*
 * xaudit loads: the life of every library: when it came and went, and how often it was called meanwhile.
 *
 * One pass over loads and unloads in the order of time, then one over all calls, which counts them. A forked process
 * has the libraries of its parent: its calls in them count for the parent's load, of which the trace tells again, with
 * the same number and time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/csv.h"
#include "tool/base/hash.h"
#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/calls/view.h"
#include "tool/show/show_trace.h"
#include "tool/show/term/fit.h"
#include "tool/show/term/progress.h"
#include "tool/show/term/term.h"

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
	uint32_t opening, closing; /* the work of ld.so that mapped and unmapped it; NONE: not recorded */
};

/* Work of ld.so, for one dlopen or dlclose. */
struct work {
	struct xaudit_read_process *process;
	uint32_t tid;
	bool unmaps;
	uint64_t start, time, own; /* own: xaudit's part of the time */
	uint32_t loads;		   /* how many it mapped or unmapped */
};

/* An object in a process, and its last life there that has not ended. */
struct place {
	const struct xaudit_read_process *process;
	const struct xaudit_read_object *object;
	uint32_t life; /* NONE */
	uint32_t stay; /* the newest of its stays; NONE */
};

/* Of a stay, the life that has its calls. */
struct stayed {
	uint32_t life;
	uint32_t number; /* of the load */
	uint32_t before; /* the stay before this one, of the same object in the same process; NONE */
};

/* dlopen, or dlclose. */
struct loader_calls {
	uint64_t calls, timed, time;
};

struct own {
	struct view_options options;
	struct xaudit_read_trace *trace;
	uint64_t from, to; /* 0: not given */
	struct life *life;
	uint32_t lives;
	uint32_t first; /* of those that are shown first: the ones from here on were there before the trace began */
	struct place *place;
	uint32_t places;
	struct hash by_object; /* of place[]'s process and object */
	/* The lives as each process has them: a forked one, those of its parent. */
	struct xaudit_read_stay *stay;
	struct stayed *stayed;
	uint32_t stays;
	struct loader_calls opens, closes;
	struct work *work;
	uint32_t works;
	uint32_t *gone; /* lives that ended, and whose work of ld.so has not come yet */
	uint32_t gones;
};

/* ---- lives ---- */

/* The place of an object in a process, made if there is none. Valid until the next one is made. */
static struct place *place_of(
	struct own *own, struct xaudit_read_process *process, const struct xaudit_read_object *object)
{
	uint32_t hash = hash_key((uintptr_t)process, (uintptr_t)object);
	uint32_t found = HASH_FIND(i, &own->by_object, hash,
		own->place[i].process == process && own->place[i].object == object);

	if (found != HASH_NONE)
		return &own->place[found];
	own->place = memory_grow(own->place, own->places, sizeof(*own->place));
	memory_hash(&own->by_object, hash, own->places);
	own->place[own->places] = (struct place){ process, object, NONE, NONE };
	return &own->place[own->places++];
}

static uint32_t new_life(struct own *own, const struct life *life)
{
	own->life = memory_grow(own->life, own->lives, sizeof(*own->life));
	own->life[own->lives] = *life;
	own->life[own->lives].opening = own->life[own->lives].closing = NONE;
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
		for (uint32_t at = place_of(own, process, event->object)->life; at != NONE; at = own->life[at].before)
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
			.before = place_of(own, event->process, event->object)->life,
			.tid = event->tid,
			.from = event->time,
			.to = UNKNOWN,
		});
	struct place *place = place_of(own, event->process, event->object);
	place->life = life;
	own->stay = memory_grow(own->stay, own->stays, sizeof(*own->stay));
	own->stayed = memory_grow(own->stayed, own->stays, sizeof(*own->stayed));
	own->stay[own->stays] = (struct xaudit_read_stay){ .process = event->process, .object = event->object,
		.from = event->time, .to = UNKNOWN };
	own->stayed[own->stays] = (struct stayed){ life, event->load, place->stay };
	place->stay = own->stays++;
}

static void wait_for_work(struct own *own, uint32_t life)
{
	own->gone = memory_grow(own->gone, own->gones, sizeof(*own->gone));
	own->gone[own->gones++] = life;
}

static void unload(struct own *own, const struct xaudit_read_event *event)
{
	struct place *place = place_of(own, event->process, event->object);
	uint32_t at = place->life, stay = place->stay;

	while (stay != NONE && own->stayed[stay].number != event->load)
		stay = own->stayed[stay].before;
	if (stay != NONE && own->stay[stay].to == UNKNOWN)
		own->stay[stay].to = event->time;
	while (at != NONE && own->life[at].number != event->load)
		at = own->life[at].before;
	/* That a forked process unloads is nothing to its parent, whose load it is. */
	if (at != NONE && own->life[at].process == event->process) {
		own->life[at].to = event->time;
		wait_for_work(own, at);
	}
	if (at == place->life)
		while (place->life != NONE && (place->life == at || own->life[place->life].to != UNKNOWN))
			place->life = own->life[place->life].before;
}

/* ---- work of ld.so ---- */

/* Of the thread, what was loaded since the work began. Lives are in the order of their loads. */
static void find_mapped(struct own *own, struct work *work)
{
	for (uint32_t i = own->lives; i--;) {
		struct life *life = &own->life[i];

		if (life->from != UNKNOWN && life->from < work->start)
			break;
		if (life->process != work->process || life->tid != work->tid || life->opening != NONE)
			continue;
		life->opening = own->works;
		work->loads++;
	}
}

/* What was unloaded since the work before: destructors ran before this one began. */
static void find_unmapped(struct own *own, struct work *work)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < own->gones; i++) {
		struct life *life = &own->life[own->gone[i]];

		if (life->process != work->process) {
			own->gone[left++] = own->gone[i];
			continue;
		}
		life->closing = own->works;
		work->loads++;
	}
	own->gones = left;
}

static void take_work(struct own *own, const struct xaudit_read_event *event)
{
	struct work work = {
		.process = event->process,
		.tid = event->tid,
		.unmaps = event->unmaps,
		.start = event->time - event->count,
		.time = event->count,
		.own = event->own < event->count ? event->own : event->count,
	};

	if (work.unmaps)
		find_unmapped(own, &work);
	else
		find_mapped(own, &work);
	own->work = memory_grow(own->work, own->works, sizeof(*own->work));
	own->work[own->works++] = work;
}

/* ---- calls ---- */

/* Calls of an object that was not there, as far as is known. */
static void take_others(
	void *user, struct xaudit_read_process *process, const struct xaudit_read_object *object, uint64_t calls)
{
	uint32_t life = new_life(user, &(struct life){ .process = process, .object = object, .before = NONE,
		.from = UNKNOWN, .to = UNKNOWN });

	((struct own *)user)->life[life].calls = calls;
}

static void count_calls(struct own *own)
{
	const struct xaudit_read_stays_options options = {
		.size = sizeof(options),
		.tid = own->options.tid,
		.from = own->from,
		.to = own->to,
		.other = take_others,
		.progress = progress_told,
		.user = own,
	};

	own->first = own->lives;
	xaudit_read_stays(own->trace, own->stay, own->stays, &options);
	progress_end();
	show_trace_need_memory(own->trace);
	for (uint32_t i = 0; i < own->stays; i++)
		own->life[own->stayed[i].life].calls += own->stay[i].calls;
}

static struct loader_calls *loader_calls_of(struct own *own, const char *name)
{
	if (!strcmp(name, "dlopen") || !strcmp(name, "dlmopen"))
		return &own->opens;
	return strcmp(name, "dlclose") ? NULL : &own->closes;
}

/* Calls of dlopen and dlclose, and their times. */
static void count_loader_calls(struct own *own)
{
	struct xaudit_read_profile *profile = view_profile(&own->options);
	const struct xaudit_read_row *row;

	for (uint32_t i = 0; (row = xaudit_read_profile_row(profile, i)); i++) {
		struct loader_calls *loader = loader_calls_of(own, row->name);
		if (!loader)
			continue;
		loader->calls += row->calls - row->counted;
		loader->timed += row->timed;
		loader->time += row->sum;
	}
	xaudit_read_profile_close(profile);
}

static void read_loads(struct own *own)
{
	struct xaudit_read_error error;
	struct xaudit_read_events_options options = { .size = sizeof(options), .loader = 1, .loads = 1 };
	struct xaudit_read_events *events = memory_need(xaudit_read_events(own->trace, &options, &error));
	struct xaudit_read_event event;

	while (xaudit_read_next_event(events, &event) != XAUDIT_READ_EVENT_END) {
		switch (event.what) {
		case XAUDIT_READ_EVENT_LOAD:
			load(own, &event);
			break;
		case XAUDIT_READ_EVENT_UNLOAD:
			unload(own, &event);
			break;
		case XAUDIT_READ_EVENT_LOADER:
			take_work(own, &event);
			break;
		}
	}
	show_trace_need_memory(own->trace);
	xaudit_read_events_close(events);
}

/* Was it there at some moment between --from and --to? */
static bool is_shown(const struct own *own, const struct life *life)
{
	return (life->to == UNKNOWN || life->to >= own->from) &&
	       (!own->to || life->from == UNKNOWN || life->from < own->to);
}

/* Number i of those that may be shown, in their order. */
static const struct life *shown(const struct own *own, uint32_t i)
{
	uint32_t unknown = own->lives - own->first;

	return &own->life[i < unknown ? own->first + i : i - unknown];
}

/* ---- table ---- */

/* The time of the work without xaudit's. Of several libraries the first has it. */
static void print_work(const struct own *own, uint32_t number, uint32_t *told)
{
	const struct work *work = number == NONE ? NULL : &own->work[number];

	fputs("  ", stdout);
	if (work && number == *told)
		printf("%11s", "\"");
	else
		view_print_time(work, work ? work->time - work->own : 0);
	*told = number;
}

/* Would the columns leave no room for names? Then there are none of costs, whose sums stand below, and of threads. */
static bool is_narrow(void)
{
	return term_columns() && term_columns() < 77 + FIT_KEEPS;
}

static void print_life(const struct own *own, const struct life *life, uint32_t *opening, uint32_t *closing)
{
	uint64_t after = view_after_start(own->trace, life->from);

	if (life->from == UNKNOWN)
		printf("%15s", "-");
	else
		printf("%5" PRIu64 ".%09u", after / 1000000000, (unsigned)(after % 1000000000));
	fputs("  ", stdout);
	view_print_time(life->to != UNKNOWN && life->from != UNKNOWN, life->to - life->from);
	if (!is_narrow()) {
		print_work(own, life->opening, opening);
		print_work(own, life->closing, closing);
	}
	printf("  %10" PRIu64, life->calls);
	if (!is_narrow())
		printf("  %7" PRIu32, life->tid);
	printf("  %s", own->options.color->name);
	term_text(stdout, life->object->path);
	printf("%s\n", own->options.color->off);
}

/* verb: "mapped" */
static void say_work(const struct own *own, bool unmaps, const char *verb)
{
	struct work sums = { 0 };
	uint64_t works = 0;
	char time[SHOW_TIME_SIZE], part[SHOW_TIME_SIZE];

	for (uint32_t i = 0; i < own->works; i++) {
		const struct work *work = &own->work[i];
		if (work->unmaps != unmaps || work->start < own->from || (own->to && work->start >= own->to))
			continue;
		works++;
		sums.time += work->time;
		sums.own += work->own;
	}
	if (works)
		printf("ld.so %s %" PRIu64 " time%s: %s, besides xaudit's own work of %s\n", verb, works,
			show_s(works), show_time(time, sums.time - sums.own), show_time(part, sums.own));
}

static void say_calls(const char *name, const struct loader_calls *calls)
{
	char buf[SHOW_TIME_SIZE];

	if (!calls->calls)
		return;
	printf("%" PRIu64 " call%s of %s", calls->calls, show_s(calls->calls), name);
	if (calls->timed)
		printf(", of which %" PRIu64 " took %s", calls->timed, show_time(buf, calls->time));
	putchar('\n');
}

static void print_table(const struct own *own)
{
	uint32_t opening = NONE, closing = NONE;

	bool narrow = is_narrow();

	printf("%s%15s  %11s%s  %10s%s  %s%s\n", own->options.color->head, "After start, s", "Loaded for",
		narrow ? "" : "      Opening      Closing", "Calls", narrow ? "" : "   Thread", "Library",
		own->options.color->off);
	printf("===============  ===========%s  ==========%s  ====================\n",
		narrow ? "" : "  ===========  ===========", narrow ? "" : "  =======");
	for (uint32_t i = 0; i < own->lives && !show_output_broken(); i++)
		if (is_shown(own, shown(own, i)))
			print_life(own, shown(own, i), &opening, &closing);
	term_rows(false);
	if (own->works || own->opens.calls || own->closes.calls)
		putchar('\n');
	say_work(own, false, "mapped");
	say_work(own, true, "unmapped");
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
		const struct life *life = shown(own, i);

		if (!is_shown(own, life))
			continue;
		printf("%s\n{\"library\":", some ? "," : "");
		json_string(stdout, life->object->path);
		printf(",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, xaudit_read_process_info(life->process)->pid,
			life->tid);
		json_number("load_ns", life->from != UNKNOWN, life->from);
		json_number("after_start_ns", life->from != UNKNOWN, view_after_start(own->trace, life->from));
		json_number("unload_ns", life->to != UNKNOWN, life->to);
		json_number("loaded_for_ns", life->to != UNKNOWN && life->from != UNKNOWN,
			life->to - life->from);
		json_number("opening", life->opening != NONE, life->opening);
		json_number("closing", life->closing != NONE, life->closing);
		printf(",\"calls\":%" PRIu64 "}", life->calls);
		some = true;
	}
	printf("\n],\"work\":[");
	for (uint32_t i = 0; i < own->works && !show_output_broken(); i++) {
		const struct work *work = &own->work[i];

		printf("%s\n{\"unmaps\":%s,\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"start_ns\":%" PRIu64
		       ",\"time_ns\":%" PRIu64 ",\"own_ns\":%" PRIu64 ",\"libraries\":%" PRIu32 "}",
			i ? "," : "", work->unmaps ? "true" : "false", xaudit_read_process_info(work->process)->pid,
			work->tid, work->start, work->time, work->own, work->loads);
	}
	printf("\n],\"dlopen_calls\":%" PRIu64 ",\"dlclose_calls\":%" PRIu64 "}\n", own->opens.calls,
		own->closes.calls);
}

/* ---- CSV ---- */

/* Of several libraries that one dlopen mapped, each has the whole time of the work. */
static void csv_work(struct csv *csv, const struct own *own, uint32_t number)
{
	const struct work *work = number == NONE ? NULL : &own->work[number];

	csv_known(csv, work, number);
	csv_known(csv, work, work ? work->time - work->own : 0);
}

static void print_csv(const struct own *own)
{
	struct csv csv = csv_begin(stdout, term_is());

	csv_heads(&csv, "library,pid,tid,load_ns,after_start_ns,unload_ns,loaded_for_ns,opening,opening_ns,closing,"
			"closing_ns,calls");
	csv_end(&csv);
	for (uint32_t i = 0; i < own->lives && !show_output_broken(); i++) {
		const struct life *life = shown(own, i);

		if (!is_shown(own, life))
			continue;
		csv_text(&csv, life->object->path);
		csv_number(&csv, xaudit_read_process_info(life->process)->pid);
		csv_known(&csv, life->from != UNKNOWN, life->tid);
		csv_known(&csv, life->from != UNKNOWN, life->from);
		csv_known(&csv, life->from != UNKNOWN, view_after_start(own->trace, life->from));
		csv_known(&csv, life->to != UNKNOWN, life->to);
		csv_known(&csv, life->to != UNKNOWN && life->from != UNKNOWN, life->to - life->from);
		csv_work(&csv, own, life->opening);
		csv_work(&csv, own, life->closing);
		csv_number(&csv, life->calls);
		csv_end(&csv);
	}
}

/* ---- the command ---- */

enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };

static const struct options_row rows[] = {
	SHOW_FORMAT("table, json or csv", "table (default), json or csv"),
	VIEW_ROWS
};

static const struct options_syntax syntax = {
	.command = "loads",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit loads [OPTION]... [DIR]\n"
		"Shows when libraries were loaded and unloaded, and how often they were called,\n"
		"from the trace in DIR (default: " TOOL_FOLDER ").\n"
		"\n"
		"Options:\n",
};

int loads_main(int argc, char **argv)
{
	struct own own = { 0 };
	int status = view_open_one(&own.options, &syntax, argc, argv);

	if (status >= 0)
		return status;
	own.trace = own.options.many.trace[0];
	own.from = view_from(own.trace, &own.options);
	own.to = view_to(own.trace, &own.options);
	read_loads(&own);
	count_calls(&own);
	count_loader_calls(&own);
	if (own.options.show.json == FORMAT_CSV)
		print_csv(&own);
	else if (own.options.show.json == FORMAT_JSON)
		print_json(&own);
	else
		print_table(&own);
	free(own.life);
	free(own.stay);
	free(own.stayed);
	free(own.place);
	hash_free(&own.by_object);
	free(own.work);
	free(own.gone);
	return view_close(&own.options, TOOL_OK);
}
