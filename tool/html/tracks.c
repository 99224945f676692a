/* SPDX-License-Identifier: MIT */
#include "tool/html/tracks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/html/text.h"

#define DEPTH_MOST 4096u /* calls that lie deeper are in no row, and only counted */

static struct track *find(const struct tracks *tracks, const struct xaudit_read_process *process, uint32_t tid,
	uint32_t stack, uint32_t hash)
{
	struct track *const *track = tracks->track;
	uint32_t found = HASH_FIND(i, &tracks->by_key, hash, track[i]->process == process &&
		track[i]->stack == stack && (stack || track[i]->tid == tid));

	return found != HASH_NONE ? track[found] : NULL;
}

static uint32_t hash_of(const struct xaudit_read_process *process, uint32_t tid, uint32_t stack)
{
	return hash_key((uintptr_t)process, (uint64_t)stack << 32 | (stack ? 0 : tid));
}

struct track *page_tracks_find(
	const struct tracks *tracks, const struct xaudit_read_process *process, uint32_t tid, uint32_t stack)
{
	return find(tracks, process, tid, stack, hash_of(process, tid, stack));
}

/* Processes come one after another, mostly in the order of their numbers. */
static uint32_t number_of(struct tracks *tracks, const struct xaudit_read_process *process)
{
	while (xaudit_read_process(tracks->trace, tracks->process) != process)
		if (!xaudit_read_process(tracks->trace, ++tracks->process))
			tracks->process = 0;
	return tracks->process;
}

struct track *page_tracks_of(struct tracks *tracks, const struct xaudit_read_call *call)
{
	struct track *track = tracks->recent;

	if (track && track->process == call->process && track->stack == call->stack &&
		(call->stack || track->tid == call->tid))
		return track;
	uint32_t hash = hash_of(call->process, call->tid, call->stack);
	track = find(tracks, call->process, call->tid, call->stack, hash);
	if (!track) {
		track = memory_zeroed(1, sizeof(*track));
		*track = (struct track){ .process = call->process, .number = number_of(tracks, call->process),
			.tid = call->tid, .stack = call->stack, .first = UINT64_MAX, .place = TRACKS_NONE,
			.row = TRACKS_NONE, .loose = TRACKS_NONE, .cpu = TRACKS_NONE };
		counts_open(&track->counts, TRACK_COLUMNS);
		tracks->track = memory_grow(tracks->track, tracks->count, sizeof(*tracks->track));
		memory_hash(&tracks->by_key, hash, tracks->count);
		tracks->track[tracks->count++] = track;
	}
	return tracks->recent = track;
}

/* Of each thread the name that is known in the end. */
static void name_tracks(struct tracks *tracks)
{
	uint32_t threads = xaudit_read_threads(tracks->trace);
	struct hash by_tid = { 0 };

	for (uint32_t i = 0; i < threads; i++) {
		const struct xaudit_read_thread *thread = xaudit_read_thread(tracks->trace, i);
		memory_hash(&by_tid, hash_of(thread->process, thread->tid, 0), i);
	}
	for (uint32_t i = 0; i < tracks->count; i++) {
		struct track *track = tracks->track[i];
		uint32_t found = HASH_FIND(k, &by_tid, hash_of(track->process, track->tid, 0),
			xaudit_read_thread(tracks->trace, k)->process == track->process &&
				xaudit_read_thread(tracks->trace, k)->tid == track->tid);
		if (found != HASH_NONE)
			snprintf(track->name, sizeof(track->name), "%s",
				xaudit_read_thread(tracks->trace, found)->name);
	}
	hash_free(&by_tid);
}

bool track_overlaps(struct track *track, uint32_t depth, uint64_t from, uint64_t to)
{
	if (depth >= track->depths)
		return false;
	uint64_t last = track->depth[depth].last;
	track->depth[depth].last = to > last ? to : last;
	return from < last;
}

bool track_count(struct track *track, uint32_t depth, uint64_t from, uint64_t to)
{
	track->calls++;
	track->time += depth ? 0 : to - from;
	track->first = from < track->first ? from : track->first;
	track->last = to > track->last ? to : track->last;
	counts_add(&track->counts, from);
	if (depth >= track->room) {
		uint32_t room = depth < 8 ? 16 : depth * 2;
		if (depth >= DEPTH_MOST)
			return false;
		track->depth = memory_resize(track->depth, room, sizeof(*track->depth));
		memset(track->depth + track->room, 0, (room - track->room) * sizeof(*track->depth));
		track->room = room;
	}
	track->depths = depth >= track->depths ? depth + 1 : track->depths;
	track->depth[depth].calls++;
	bool overlaps = track_overlaps(track, depth, from, to);
	track->overlaps += overlaps;
	return overlaps;
}

void page_tracks_again(struct tracks *tracks)
{
	for (uint32_t i = 0; i < tracks->count; i++)
		for (uint32_t d = 0; d < tracks->track[i]->depths; d++)
			tracks->track[i]->depth[d].last = 0;
}

/* ---- rows ---- */

/* A row that a track may have. */
struct wish {
	struct track *track;
	uint64_t calls; /* that are so deep, or deeper */
	uint32_t depth;
};

static int by_calls(const void *x, const void *y)
{
	const struct wish *a = x, *b = y;

	if (!a->depth != !b->depth)
		return a->depth ? 1 : -1;
	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->track->number != b->track->number)
		return a->track->number < b->track->number ? -1 : 1;
	return a->track->tid < b->track->tid ? -1 : a->track->tid > b->track->tid;
}

/* In the order of the page; those without rows behind all others. */
static int by_place(const void *x, const void *y)
{
	const struct track *a = *(struct track *const *)x, *b = *(struct track *const *)y;

	if (!a->rows != !b->rows)
		return a->rows ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

/* Gives each track its number of rows, from the outermost on, as a wish has no more calls than the one above it. */
static void share_rows(struct tracks *tracks, uint32_t most)
{
	struct wish *wish = NULL;
	size_t wishes = 0, count = 0;

	for (uint32_t i = 0; i < tracks->count; i++)
		wishes += tracks->track[i]->depths;
	wish = memory_zeroed(wishes + 1, sizeof(*wish));
	for (uint32_t i = 0; i < tracks->count; i++) {
		struct track *track = tracks->track[i];
		uint64_t calls = 0;
		for (uint32_t d = track->depths; d--;) {
			calls += track->depth[d].calls;
			wish[count++] = (struct wish){ track, calls, d };
		}
	}
	qsort(wish, count, sizeof(*wish), by_calls);
	for (size_t i = 0; i < count && i < most; i++)
		if (!wish[i].depth || wish[i].track->rows)
			wish[i].track->rows++;
	free(wish);
}

static uint32_t add_row(struct tracks *tracks, const struct row *row)
{
	tracks->row = memory_grow(tracks->row, tracks->rows, sizeof(*tracks->row));
	tracks->row[tracks->rows] = *row;
	return tracks->rows++;
}

/* The first track of each thread has the row for processors. */
static bool is_first(const struct tracks *tracks, uint32_t place)
{
	const struct track *track = tracks->track[place], *before = place ? tracks->track[place - 1] : NULL;

	return !before || before->number != track->number || before->tid != track->tid;
}

void page_tracks_choose(struct tracks *tracks, uint32_t most, bool cpu)
{
	name_tracks(tracks);
	share_rows(tracks, most);
	if (tracks->count)
		qsort(tracks->track, tracks->count, sizeof(*tracks->track), by_place);
	tracks->rest = TRACKS_NONE;
	/* Numbers of the table are others now: nothing is looked for by it any more. */
	hash_free(&tracks->by_key);
	tracks->by_key = (struct hash){ 0 };
	for (uint32_t i = 0; i < tracks->count; i++) {
		struct track *track = tracks->track[i];
		memory_hash(&tracks->by_key, hash_of(track->process, track->tid, track->stack), i);
		if (!track->rows)
			continue;
		track->place = tracks->shown++;
		track->row = tracks->rows;
		for (uint32_t d = 0; d < track->rows; d++)
			add_row(tracks, &(struct row){ i, d, ROW_CALLS, 0, track->depth[d].calls });
		if (track->overlaps)
			track->loose = add_row(tracks, &(struct row){ i, 0, ROW_LOOSE, 0, track->overlaps });
		if (cpu && is_first(tracks, i))
			track->cpu = add_row(tracks, &(struct row){ i, 0, ROW_CPU, 0, 0 });
	}
	if (tracks->shown < tracks->count)
		tracks->rest = add_row(tracks, &(struct row){ TRACKS_NONE, 0, ROW_REST, 0, 0 });
}

/* ---- JSON ---- */

static void write_row_number(FILE *to, const char *key, uint32_t row)
{
	html_number(to, ",", key, row == TRACKS_NONE ? UINT64_MAX : row);
}

static void write_track(FILE *to, const struct track *track)
{
	uint64_t shown = 0;

	for (uint32_t d = 0; d < track->rows; d++)
		shown += track->depth[d].calls;
	html_number(to, "\n{", "process", track->number);
	html_number(to, ",", "tid", track->tid);
	html_number(to, ",", "stack", track->stack);
	html_member(to, ",", "name", track->name);
	html_number(to, ",", "calls", track->calls);
	html_number(to, ",", "time", track->time);
	html_number(to, ",", "first", track->first);
	html_number(to, ",", "last", track->last);
	html_number(to, ",", "depth", track->depths);
	write_row_number(to, "row", track->row);
	html_number(to, ",", "rows", track->rows);
	write_row_number(to, "loose", track->loose);
	write_row_number(to, "cpu", track->cpu);
	html_number(to, ",", "deeper", track->calls - shown);
	putc('}', to);
}

static void write_rest(const struct tracks *tracks, FILE *to)
{
	uint64_t calls = 0, time = 0;

	if (tracks->rest == TRACKS_NONE) {
		fputs("null", to);
		return;
	}
	for (uint32_t i = tracks->shown; i < tracks->count; i++) {
		calls += tracks->track[i]->calls;
		time += tracks->track[i]->time;
	}
	html_number(to, "{", "tracks", tracks->count - tracks->shown);
	html_number(to, ",", "calls", calls);
	html_number(to, ",", "time", time);
	html_number(to, ",", "row", tracks->rest);
	putc('}', to);
}

void page_tracks_write(const struct tracks *tracks, FILE *to)
{
	static const char *const kind[] = { "calls", "loose", "cpu", "rest" };

	fputs("\"tracks\":[", to);
	for (uint32_t i = 0; i < tracks->shown; i++) {
		fputs(i ? "," : "", to);
		write_track(to, tracks->track[i]);
	}
	fputs("],\n\"rest\":", to);
	write_rest(tracks, to);
	fputs(",\n\"rows\":[", to);
	for (uint32_t i = 0; i < tracks->rows; i++) {
		const struct row *row = &tracks->row[i];
		html_number(to, i ? ",\n{" : "{", "track", row->track == TRACKS_NONE ? UINT64_MAX : row->track);
		fprintf(to, ",\"kind\":\"%s\",\"depth\":%" PRIu32 ",\"levels\":%" PRIu32 ",\"calls\":%" PRIu64 "}",
			kind[row->kind], row->depth, row->levels, row->calls);
	}
	putc(']', to);
}

void page_tracks_close(struct tracks *tracks)
{
	for (uint32_t i = 0; i < tracks->count; i++) {
		counts_close(&tracks->track[i]->counts);
		free(tracks->track[i]->depth);
		free(tracks->track[i]);
	}
	free(tracks->track);
	free(tracks->row);
	hash_free(&tracks->by_key);
}
