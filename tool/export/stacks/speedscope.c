/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/export/stacks/speedscope.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/export/stacks/merged.h"
#include "tool/show/digits.h"
#include "tool/show/term/names.h"

/* The begin or the end of a call. */
struct event {
	uint64_t at;	/* ns after the start of the trace */
	uint32_t frame; /* twice its number, and 1 for an end */
};

struct profile {
	const struct export_track *track;
	struct event *event;
	uint32_t events;
};

struct speedscope {
	struct merged merged;
	struct profile *profile;
	uint32_t profiles, calls;
	uint32_t *frame; /* its number + 1, by number of a function */
	uint32_t room;
	uint32_t *function; /* by number of a frame */
	uint32_t frames;
	struct cct_paths paths;
};

static void begin(struct export *export)
{
	struct speedscope *speedscope = memory_zeroed(1, sizeof(*speedscope));

	export->state = speedscope;
	merged_begin(&speedscope->merged, export, true);
}

/* ---- each call ---- */

static void forget(struct speedscope *speedscope)
{
	for (uint32_t i = 0; i < speedscope->profiles; i++)
		free(speedscope->profile[i].event);
	free(speedscope->profile);
	speedscope->profile = NULL;
	speedscope->profiles = 0;
}

static uint32_t frame_of(struct speedscope *speedscope, uint32_t function)
{
	uint32_t *frame = memory_number(&speedscope->frame, &speedscope->room, function);

	if (!*frame) {
		speedscope->function =
			memory_grow(speedscope->function, speedscope->frames, sizeof(*speedscope->function));
		speedscope->function[speedscope->frames++] = function;
		*frame = speedscope->frames;
	}
	return *frame - 1;
}

static void keep(struct export *export, const struct export_call *call, uint64_t time, bool end)
{
	struct speedscope *speedscope = export->state;
	struct profile *profile;

	if (speedscope->calls > SPEEDSCOPE_MOST)
		return;
	if (!call->track->mark) {
		speedscope->profile =
			memory_grow(speedscope->profile, speedscope->profiles, sizeof(*speedscope->profile));
		speedscope->profile[speedscope->profiles] = (struct profile){ .track = call->track };
		call->track->mark = ++speedscope->profiles;
	}
	profile = &speedscope->profile[call->track->mark - 1];
	profile->event = memory_grow(profile->event, profile->events, sizeof(*profile->event));
	profile->event[profile->events++] = (struct event){ .at = export_after(export, time),
		.frame = frame_of(speedscope, call->call->function->number) << 1 | end };
}

static void enter(struct export *export, const struct export_call *call)
{
	struct speedscope *speedscope = export->state;

	/* Counted no further than to know that they are too many. */
	if (speedscope->calls > SPEEDSCOPE_MOST)
		return;
	if (++speedscope->calls > SPEEDSCOPE_MOST)
		forget(speedscope);
	else
		keep(export, call, call->start, false);
}

static void leave(struct export *export, const struct export_call *call)
{
	merged_take(&((struct speedscope *)export->state)->merged, call);
	keep(export, call, call->end, true);
}

/* ---- lines ---- */

static void put_head(FILE *to, bool first, const char *type, char *name, uint64_t start, uint64_t end)
{
	fprintf(to, "%s\n{\"type\":\"%s\",\"name\":", first ? "" : ",", type);
	json_string(to, name);
	fprintf(to, ",\"unit\":\"nanoseconds\",\"startValue\":%" PRIu64 ",\"endValue\":%" PRIu64, start, end);
	free(name);
}

static char *name_of(const struct speedscope *speedscope, const struct export_track *track)
{
	const struct merged_thread *thread = merged_thread(&speedscope->merged, track->process, track->tid);
	struct merged_thread own = { .process = track->process };
	struct export_track named = *track;
	char *process = merged_process_name(&own), *name, *both;

	named.name = (char *)(thread && thread->name ? thread->name : track->name);
	name = export_track_name(&named);
	both = memory_format("%s, %s", process, name);
	free(process);
	free(name);
	return both;
}

static void put_evented(const struct export *export, const struct profile *profile, bool first)
{
	FILE *to = export->out.file;

	put_head(to, first, "evented", name_of(export->state, profile->track), profile->event[0].at,
		profile->event[profile->events - 1].at);
	fputs(",\"events\":[", to);
	for (uint32_t i = 0; i < profile->events; i++)
		fprintf(to, "%s\n{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRIu64 "}", i ? "," : "",
			profile->event[i].frame & 1 ? 'C' : 'O', profile->event[i].frame >> 1, profile->event[i].at);
	fputs("\n]}", to);
}

/* The stacks below the node of a thread, or, of the same, their times. */
static void put_nodes(struct export *export, const struct merged_thread *thread, bool weights)
{
	struct speedscope *speedscope = export->state;
	const struct cct *cct = &speedscope->merged.cct;
	uint32_t node = thread->node;
	const char *between = "\n";

	while ((node = cct_next(cct, thread->node, node, false))) {
		uint32_t depth = weights ? 0 : cct_paths_of(&speedscope->paths, node);

		if (!cct->node[node].own.time)
			continue;
		fputs(between, export->out.file);
		between = ",\n";
		/* The first one is the thread. */
		for (uint32_t i = 1; i < depth; i++) {
			char number[1 + DIGITS_MOST] = { i > 1 ? ',' : '[' };
			char *end = digits_put(number + 1, frame_of(speedscope, speedscope->paths.function[i]));
			fwrite(number, 1, (size_t)(end - number), export->out.file);
		}
		if (weights)
			fprintf(export->out.file, "%" PRIu64, cct->node[node].own.time);
		else
			putc(']', export->out.file);
	}
}

static void put_sampled(struct export *export, const struct merged_thread *thread, bool first)
{
	const struct cct *cct = &((struct speedscope *)export->state)->merged.cct;
	uint64_t sum = 0;

	for (uint32_t node = thread->node; (node = cct_next(cct, thread->node, node, false));)
		sum += cct->node[node].own.time;
	put_head(export->out.file, first, "sampled", merged_name(thread), 0, sum);
	fputs(",\"samples\":[", export->out.file);
	put_nodes(export, thread, false);
	fputs("],\"weights\":[", export->out.file);
	put_nodes(export, thread, true);
	fputs("\n]}", export->out.file);
}

static void put_frames(const struct export *export)
{
	const struct speedscope *speedscope = export->state;
	FILE *to = export->out.file;

	fputs("\n],\"shared\":{\"frames\":[", to);
	for (uint32_t i = 0; i < speedscope->frames; i++) {
		const struct xaudit_read_function *function =
			xaudit_read_function(export->trace, speedscope->function[i]);

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", to);
		json_string(to, names_full(function->name));
		fputs(",\"file\":", to);
		json_string(to, function->object->path);
		putc('}', to);
	}
	fputs("\n]}", to);
}

static void end(struct export *export)
{
	struct speedscope *speedscope = export->state;
	struct merged *merged = &speedscope->merged;

	merged_end(merged, export);
	cct_convert(&merged->cct, export->calls);
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"xaudit ",
		export->out.file);
	fprintf(export->out.file, "%s\",\"name\":", xaudit_read_version());
	json_string(export->out.file, export->info->command ? export->info->command : export->info->path);
	fputs(",\"profiles\":[", export->out.file);
	for (uint32_t i = 0; i < speedscope->profiles; i++)
		put_evented(export, &speedscope->profile[i], !i);
	cct_paths_open(&speedscope->paths, &merged->cct);
	for (uint32_t i = 0; speedscope->calls > SPEEDSCOPE_MOST && i < merged->threads; i++)
		put_sampled(export, &merged->thread[i], !i);
	put_frames(export);
	fputs("}\n", export->out.file);
	cct_paths_close(&speedscope->paths);
	forget(speedscope);
	merged_free(merged);
	free(speedscope->frame);
	free(speedscope->function);
	free(speedscope);
}

const struct export_format export_speedscope = {
	.name = "speedscope",
	.help = "speedscope's own: each call, or merged stacks of many",
	.text = true,
	.begin = begin,
	.enter = enter,
	.leave = leave,
	.end = end,
};
