/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/export/time/perfetto.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/proto.h"
#include "tool/base/tool.h"
#include "tool/export/time/args.h"
#include "tool/export/time/timeline.h"
#include "tool/show/term/frames.h"
#include "tool/show/term/names.h"

/* Fields of the messages. */
enum { TRACE_PACKET = 1 };
enum { PACKET_CLOCKS = 6, PACKET_TIME = 8, PACKET_SEQUENCE = 10, PACKET_EVENT, PACKET_INTERNED, PACKET_FLAGS,
	PACKET_CLOCK = 58, PACKET_DEFAULTS, PACKET_TRACK };
enum { FLAGS_CLEARED = 1, FLAGS_NEEDED };
enum { CLOCKS_CLOCK = 1, CLOCKS_PRIMARY };
enum { CLOCK_ID = 1, CLOCK_TIME, CLOCK_IS_INCREMENTAL };
enum { REALTIME = 1, MONOTONIC = 3, INCREMENTAL = 64 };
enum { DEFAULTS_EVENT = 11, DEFAULTS_CLOCK = 58 };
enum { EVENT_CATEGORY_NUMBER = 3, EVENT_ARG, EVENT_TYPE = 9, EVENT_NAME_NUMBER, EVENT_TRACK, EVENT_CATEGORY = 22,
	EVENT_NAME, EVENT_CORRELATION = 53 };
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT };
enum { ARG_NAME_NUMBER = 1, ARG_UNSIGNED = 3, ARG_SIGNED, ARG_REAL, ARG_TEXT, ARG_POINTER, ARG_NAME = 10,
	ARG_LIST = 12 };
enum { INTERNED_CATEGORY = 1, INTERNED_NAME, INTERNED_ARG };
enum { NAME_NUMBER = 1, NAME_TEXT };
enum { TRACK_UUID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_THREAD, TRACK_PARENT };
enum { PROCESS_PID = 1, PROCESS_COMMAND, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID, THREAD_NAME = 5 };

#define SHARED_SEQUENCE 1u /* others are numbers of tracks, from 2 on */

/* Tracks have numbers: processes and threads by their ids, others by these. */
#define UUID_PROCESS 24 /* bits of a thread's id */
#define UUID_OTHER   (1ull << 60)
#define UUID_LANE    (1ull << 61)

struct known {
	uint64_t *bit;
	uint32_t room; /* words */
};

struct sequence {
	const struct export_track *track;
	uint64_t last; /* time of its last packet */
	uint64_t uuid;
	struct known names, categories, keys;
};

/* Texts that have numbers, from 1 on, in whichever sequence. */
struct numbered {
	char **text;
	uint32_t texts;
	struct hash table;
};

struct perfetto {
	struct timeline timeline;
	struct sequence **sequence; /* by number of a track */
	uint32_t sequences;
	struct numbered keys, libraries;
	uint32_t *library; /* its number, by number of a function; 0: not looked for */
	uint32_t functions;
	struct lane {
		struct xaudit_read_process *process;
		uint32_t tid;
	} *lane;
	uint32_t lanes;
	/* Messages that are being made; all are empty between packets. */
	struct proto packet, event, interned, inner, item;
};

/* ---- packets ---- */

static void put_packet(struct export *export, struct proto *packet)
{
	struct perfetto *perfetto = export->state;

	proto_message(&perfetto->item, TRACE_PACKET, packet);
	fwrite(perfetto->item.byte, 1, perfetto->item.size, export->out.file);
	perfetto->item.size = 0;
}

static void put_string(struct proto *to, unsigned field, const char *text)
{
	proto_text(to, field, text, strlen(text));
}

static void put_clock(struct proto *clocks, struct proto *inner, uint32_t id, uint64_t time)
{
	proto_number(inner, CLOCK_ID, id);
	proto_number(inner, CLOCK_TIME, time);
	if (id == INCREMENTAL)
		proto_number(inner, CLOCK_IS_INCREMENTAL, 1);
	proto_message(clocks, CLOCKS_CLOCK, inner);
}

/* ---- tracks ---- */

static uint64_t uuid_of_thread(const struct export *export, const struct xaudit_read_process *process, uint32_t tid)
{
	const struct perfetto *perfetto = export->state;

	return (timeline_number(&perfetto->timeline, export, process) + 1ull) << UUID_PROCESS | tid;
}

static void put_track(struct export *export)
{
	struct perfetto *perfetto = export->state;

	proto_number(&perfetto->packet, PACKET_SEQUENCE, SHARED_SEQUENCE);
	proto_message(&perfetto->packet, PACKET_TRACK, &perfetto->event);
	put_packet(export, &perfetto->packet);
}

static void put_process(struct export *export, uint32_t number)
{
	struct perfetto *perfetto = export->state;
	struct xaudit_read_process *process = xaudit_read_process(export->trace, number);
	const struct xaudit_read_process_info *info = xaudit_read_process_info(process);
	char *name = timeline_process_name(&perfetto->timeline, export, number);

	proto_number(&perfetto->event, TRACK_UUID, uuid_of_thread(export, process, 0));
	proto_number(&perfetto->inner, PROCESS_PID, perfetto->timeline.pid[number]);
	if (info->command)
		put_string(&perfetto->inner, PROCESS_COMMAND, info->command);
	put_string(&perfetto->inner, PROCESS_NAME, name);
	proto_message(&perfetto->event, TRACK_PROCESS, &perfetto->inner);
	put_track(export);
	free(name);
}

/* name: NULL: none is known. */
static void put_thread(struct export *export, const struct xaudit_read_process *process, uint32_t tid, const char *name)
{
	struct perfetto *perfetto = export->state;

	proto_number(&perfetto->event, TRACK_UUID, uuid_of_thread(export, process, tid));
	proto_number(&perfetto->inner, THREAD_PID, timeline_pid(&perfetto->timeline, export, process));
	proto_number(&perfetto->inner, THREAD_TID, tid);
	if (name)
		put_string(&perfetto->inner, THREAD_NAME, name);
	proto_message(&perfetto->event, TRACK_THREAD, &perfetto->inner);
	put_track(export);
}

static void put_named(struct export *export, uint64_t uuid, uint64_t parent, const char *name)
{
	struct perfetto *perfetto = export->state;

	proto_number(&perfetto->event, TRACK_UUID, uuid);
	put_string(&perfetto->event, TRACK_NAME, name);
	proto_number(&perfetto->event, TRACK_PARENT, parent);
	put_track(export);
}

/* Again at the end, when all names are known. */
static void put_sequence_track(struct export *export, const struct sequence *sequence)
{
	struct perfetto *perfetto = export->state;
	const struct export_track *track = sequence->track;
	char *name;

	if (sequence->uuid < UUID_OTHER) {
		const char *newest = timeline_thread_name(&perfetto->timeline, export, track->process, track->tid);

		put_thread(export, track->process, track->tid, newest ? newest : *track->name ? track->name : NULL);
		return;
	}
	name = timeline_track_name(&perfetto->timeline, export, track);
	put_named(export, sequence->uuid, uuid_of_thread(export, track->process, 0), name);
	free(name);
}

/* The sequence of a track, which begins at this time if it is new. */
static struct sequence *sequence_of(struct export *export, struct export_track *track, uint64_t time)
{
	struct perfetto *perfetto = export->state;
	struct proto *packet = &perfetto->packet;
	struct sequence *sequence = track->user;

	if (sequence)
		return sequence;
	sequence = memory_zeroed(1, sizeof(*sequence));
	perfetto->sequence = memory_grow(perfetto->sequence, perfetto->sequences, sizeof(struct sequence *));
	perfetto->sequence[perfetto->sequences++] = sequence;
	track->user = sequence;
	*sequence = (struct sequence){ .track = track, .last = time,
		.uuid = track->stack || track->beside ? UUID_OTHER | track->number
						      : uuid_of_thread(export, track->process, track->tid) };
	put_sequence_track(export, sequence);
	proto_number(packet, PACKET_SEQUENCE, track->number + 2);
	proto_number(packet, PACKET_FLAGS, FLAGS_CLEARED);
	put_clock(&perfetto->event, &perfetto->inner, MONOTONIC, time);
	put_clock(&perfetto->event, &perfetto->inner, INCREMENTAL, 0);
	proto_message(packet, PACKET_CLOCKS, &perfetto->event);
	proto_number(&perfetto->inner, EVENT_TRACK, sequence->uuid);
	proto_message(&perfetto->event, DEFAULTS_EVENT, &perfetto->inner);
	proto_number(&perfetto->event, DEFAULTS_CLOCK, INCREMENTAL);
	proto_message(packet, PACKET_DEFAULTS, &perfetto->event);
	put_packet(export, packet);
	return sequence;
}

static void begin(struct export *export)
{
	struct perfetto *perfetto = memory_zeroed(1, sizeof(*perfetto));

	export->state = perfetto;
	timeline_begin(&perfetto->timeline, export);
	put_clock(&perfetto->event, &perfetto->inner, MONOTONIC, export->info->start);
	if (export->info->start_real)
		put_clock(&perfetto->event, &perfetto->inner, REALTIME, export->info->start_real);
	proto_number(&perfetto->event, CLOCKS_PRIMARY, MONOTONIC);
	proto_number(&perfetto->packet, PACKET_SEQUENCE, SHARED_SEQUENCE);
	proto_message(&perfetto->packet, PACKET_CLOCKS, &perfetto->event);
	put_packet(export, &perfetto->packet);
	for (uint32_t i = 0; i < perfetto->timeline.processes; i++)
		put_process(export, i);
}

/* ---- names that have numbers ---- */

/* Is it new, in this sequence? Then it is known from now on. */
static bool is_new(struct known *known, uint32_t number)
{
	if (number / 64 >= known->room) {
		uint32_t room = number / 64 * 2 + 4;

		known->bit = memory_resize(known->bit, room, sizeof(*known->bit));
		memset(known->bit + known->room, 0, (room - known->room) * sizeof(*known->bit));
		known->room = room;
	}
	if (known->bit[number / 64] >> number % 64 & 1)
		return false;
	known->bit[number / 64] |= 1ull << number % 64;
	return true;
}

static void put_interned(struct perfetto *perfetto, unsigned field, uint32_t number, const char *text)
{
	proto_number(&perfetto->item, NAME_NUMBER, number);
	put_string(&perfetto->item, NAME_TEXT, text);
	proto_message(&perfetto->interned, field, &perfetto->item);
}

static uint32_t number_of(struct numbered *numbered, const char *text)
{
	uint32_t hash = hash_text(0, text);
	uint32_t found = HASH_FIND(i, &numbered->table, hash, !strcmp(numbered->text[i], text));

	if (found != HASH_NONE)
		return found + 1;
	numbered->text = memory_grow(numbered->text, numbered->texts, sizeof(*numbered->text));
	numbered->text[numbered->texts] = memory_text(text, strlen(text));
	memory_hash(&numbered->table, hash, numbered->texts++);
	return numbered->texts;
}

static void numbered_free(struct numbered *numbered)
{
	for (uint32_t i = 0; i < numbered->texts; i++)
		free(numbered->text[i]);
	free(numbered->text);
	hash_free(&numbered->table);
}

/* ---- arguments ---- */

struct args {
	struct perfetto *perfetto;
	struct sequence *sequence; /* NULL: keys are told as they are */
};

static void put_stack(struct proto *to, struct proto *frame, const struct xaudit_read_stack *stack)
{
	for (uint32_t i = 0; stack && i < stack->frames; i++) {
		char *name = frames_name(stack->frame[i]);

		put_string(frame, ARG_TEXT, name);
		proto_message(to, ARG_LIST, frame);
		free(name);
	}
}

static void put_arg(void *user, const struct args_one *one)
{
	const struct args *args = user;
	struct perfetto *perfetto = args->perfetto;
	struct proto *to = &perfetto->inner;

	if (args->sequence) {
		uint32_t number = number_of(&perfetto->keys, one->key);

		if (is_new(&args->sequence->keys, number))
			put_interned(perfetto, INTERNED_ARG, number, one->key);
		proto_number(to, ARG_NAME_NUMBER, number);
	} else {
		put_string(to, ARG_NAME, one->key);
	}
	switch (one->is) {
	case ARGS_TEXT:
		proto_text(to, ARG_TEXT, one->text, one->size);
		break;
	case ARGS_NULL:
		proto_number(to, ARG_POINTER, 0);
		break;
	case ARGS_SIGNED:
		proto_number(to, ARG_SIGNED, (uint64_t)one->integer);
		break;
	case ARGS_UNSIGNED:
		proto_number(to, ARG_UNSIGNED, one->number);
		break;
	case ARGS_POINTER:
		proto_number(to, ARG_POINTER, one->number);
		break;
	case ARGS_REAL:
		proto_double(to, ARG_REAL, one->real);
		break;
	case ARGS_STACK:
		put_stack(to, &perfetto->item, one->stack);
		break;
	}
	proto_message(&perfetto->event, EVENT_ARG, to);
}

/* ---- events of a sequence ---- */

static void put_event(struct export *export, struct sequence *sequence, uint64_t time)
{
	struct perfetto *perfetto = export->state;
	struct proto *packet = &perfetto->packet;

	proto_number(packet, PACKET_TIME, time - sequence->last);
	sequence->last = time;
	proto_number(packet, PACKET_SEQUENCE, sequence->track->number + 2);
	proto_message(packet, PACKET_EVENT, &perfetto->event);
	if (perfetto->interned.size)
		proto_message(packet, PACKET_INTERNED, &perfetto->interned);
	proto_number(packet, PACKET_FLAGS, FLAGS_NEEDED);
	put_packet(export, packet);
}

static uint32_t library_of(struct perfetto *perfetto, const struct xaudit_read_function *function)
{
	uint32_t *number = memory_number(&perfetto->library, &perfetto->functions, function->number);

	if (!*number)
		*number = number_of(&perfetto->libraries, tool_base(function->object->path));
	return *number;
}

static void enter(struct export *export, const struct export_call *call)
{
	struct perfetto *perfetto = export->state;
	struct sequence *sequence = sequence_of(export, call->track, call->start);
	const struct xaudit_read_function *function = call->call->function;
	uint32_t library = library_of(perfetto, function);
	struct proto *event = &perfetto->event;

	proto_number(event, EVENT_TYPE, TYPE_BEGIN);
	proto_number(event, EVENT_NAME_NUMBER, function->number + 1);
	proto_number(event, EVENT_CATEGORY_NUMBER, library);
	if (is_new(&sequence->names, function->number))
		put_interned(perfetto, INTERNED_NAME, function->number + 1, names_full(function->name));
	if (is_new(&sequence->categories, library))
		put_interned(perfetto, INTERNED_CATEGORY, library, perfetto->libraries.text[library - 1]);
	if (call->call->entered || call->call->request)
		args_call(call, true, false, &(struct args_to){ &(struct args){ perfetto, sequence }, put_arg });
	if (args_request_is_new(call))
		put_string(event, EVENT_CORRELATION, call->call->request);
	put_event(export, sequence, call->start);
}

static void leave(struct export *export, const struct export_call *call)
{
	struct perfetto *perfetto = export->state;
	struct sequence *sequence = sequence_of(export, call->track, call->start);
	struct args args = { perfetto, sequence };

	proto_number(&perfetto->event, EVENT_TYPE, TYPE_END);
	if (call->call->ended || call->call->how != XAUDIT_READ_RETURNED)
		args_call(call, false, true, &(struct args_to){ &args, put_arg });
	if (call->known && call->call->cpu != XAUDIT_READ_UNKNOWN)
		put_arg(&args, &(struct args_one){ .key = "on_cpu_ns", .is = ARGS_UNSIGNED,
				       .number = call->call->cpu });
	put_event(export, sequence, call->end);
}

static void put_instant(struct perfetto *perfetto, const char *category, char *name)
{
	proto_number(&perfetto->event, EVENT_TYPE, TYPE_INSTANT);
	put_string(&perfetto->event, EVENT_CATEGORY, category);
	put_string(&perfetto->event, EVENT_NAME, name);
	free(name);
}

static void custom(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	struct perfetto *perfetto = export->state;
	struct sequence *sequence = sequence_of(export, track, item->time);

	put_instant(perfetto, "custom", timeline_custom_name(item));
	args_custom(export, item, &(struct args_to){ &(struct args){ perfetto, sequence }, put_arg });
	put_event(export, sequence, item->time);
}

static void probe(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	struct perfetto *perfetto = export->state;
	struct sequence *sequence = sequence_of(export, track, item->time);

	put_instant(perfetto, "probe", memory_format("%s", item->probe->name));
	args_probe(item, &(struct args_to){ &(struct args){ perfetto, sequence }, put_arg });
	put_event(export, sequence, item->time);
}

/* ---- events with times of their own ---- */

static void put_alone(struct export *export, uint64_t uuid, uint64_t time)
{
	struct perfetto *perfetto = export->state;
	struct proto *packet = &perfetto->packet;

	proto_number(&perfetto->event, EVENT_TRACK, uuid);
	proto_number(packet, PACKET_TIME, time);
	proto_number(packet, PACKET_SEQUENCE, SHARED_SEQUENCE);
	proto_message(packet, PACKET_EVENT, &perfetto->event);
	proto_number(packet, PACKET_CLOCK, MONOTONIC);
	put_packet(export, packet);
}

static void put_of_process(struct export *export, struct xaudit_read_process *process, uint64_t time)
{
	put_alone(export, uuid_of_thread(export, process, 0), time > export->info->start ? time : export->info->start);
}

static void load(struct export *export, const struct xaudit_read_event *event)
{
	struct args args = { export->state, NULL };

	/* What a process had from the one that forked it is told there. */
	if (event->inherited || !timeline_is_in(export, event->time))
		return;
	put_instant(args.perfetto, "loads", timeline_load_name(event));
	put_arg(&args, &(struct args_one){ .key = "path", .is = ARGS_TEXT, .text = event->object->path,
			       .size = strlen(event->object->path) });
	if (event->address != XAUDIT_READ_UNKNOWN)
		put_arg(&args, &(struct args_one){ .key = "address", .is = ARGS_POINTER, .number = event->address });
	put_of_process(export, event->process, event->time);
}

static void change(struct export *export, const struct xaudit_read_event *event)
{
	put_instant(export->state, "recording", timeline_change_name(event));
	put_of_process(export, event->process, event->time);
}

static void lost(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	struct sequence *sequence = track ? sequence_of(export, track, item->time) : NULL;

	put_instant(export->state, "recording", timeline_lost_name(item));
	if (sequence)
		put_event(export, sequence, item->time);
	else
		put_of_process(export, item->process, item->time);
}

static void counted(struct export *export, const struct xaudit_read_item *item)
{
	struct args args = { export->state, NULL };
	const char *path = item->function->object->path;

	put_instant(args.perfetto, "counted", timeline_counted_name(item));
	put_arg(&args, &(struct args_one){ .key = "calls", .is = ARGS_UNSIGNED, .number = item->count });
	put_arg(&args, &(struct args_one){ .key = "library", .is = ARGS_TEXT, .text = path, .size = strlen(path) });
	put_of_process(export, item->process, xaudit_read_process_info(item->process)->end);
}

static void run(struct export *export, struct xaudit_read_process *process, uint32_t tid,
	const struct xaudit_read_run *run)
{
	struct perfetto *perfetto = export->state;
	const struct lane *last = perfetto->lanes ? &perfetto->lane[perfetto->lanes - 1] : NULL;

	if (!timeline_run(run))
		return;
	if (!last || last->process != process || last->tid != tid) {
		perfetto->lane = memory_grow(perfetto->lane, perfetto->lanes, sizeof(*perfetto->lane));
		perfetto->lane[perfetto->lanes] = (struct lane){ process, tid };
		put_thread(export, process, tid, NULL);
		put_named(export, UUID_LANE | perfetto->lanes++, uuid_of_thread(export, process, tid), "on CPU");
	}
	proto_number(&perfetto->event, EVENT_TYPE, TYPE_BEGIN);
	put_string(&perfetto->event, EVENT_CATEGORY, "sched");
	put_string(&perfetto->event, EVENT_NAME, timeline_run(run));
	put_alone(export, UUID_LANE | (perfetto->lanes - 1), run->from);
	proto_number(&perfetto->event, EVENT_TYPE, TYPE_END);
	put_alone(export, UUID_LANE | (perfetto->lanes - 1), run->to);
}

/* ---- the end ---- */

static void sequence_free(struct sequence *sequence)
{
	free(sequence->names.bit);
	free(sequence->categories.bit);
	free(sequence->keys.bit);
	free(sequence);
}

static void end(struct export *export)
{
	struct perfetto *perfetto = export->state;

	for (uint32_t i = 0; i < perfetto->lanes; i++) {
		const struct lane *lane = &perfetto->lane[i];
		const char *name = timeline_thread_name(&perfetto->timeline, export, lane->process, lane->tid);

		if (name)
			put_thread(export, lane->process, lane->tid, name);
	}
	for (uint32_t i = 0; i < perfetto->sequences; i++) {
		put_sequence_track(export, perfetto->sequence[i]);
		sequence_free(perfetto->sequence[i]);
	}
	free(perfetto->sequence);
	free(perfetto->lane);
	free(perfetto->library);
	numbered_free(&perfetto->keys);
	numbered_free(&perfetto->libraries);
	timeline_free(&perfetto->timeline);
	proto_free(&perfetto->packet);
	proto_free(&perfetto->event);
	proto_free(&perfetto->interned);
	proto_free(&perfetto->inner);
	proto_free(&perfetto->item);
	free(perfetto);
}

const struct export_format export_perfetto = {
	.name = "perfetto",
	.help = "Perfetto's own, the smallest that shows calls in time",
	.begin = begin,
	.end = end,
	.enter = enter,
	.leave = leave,
	.load = load,
	.run = run,
	.custom = custom,
	.probe = probe,
	.change = change,
	.counted = counted,
	.lost = lost,
};
