/* SPDX-License-Identifier: MIT */
#include "tool/export/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

static struct tracks_one *begin(struct tracks *tracks, struct xaudit_read_process *process, uint32_t tid,
	uint32_t stack, const char *thread)
{
	struct tracks_one *one = memory_zeroed(1, sizeof(*one));

	tracks->one = memory_grow(tracks->one, tracks->tracks, sizeof(*tracks->one));
	tracks->one[tracks->tracks] = one;
	one->track = (struct export_track){ .process = process, .number = tracks->tracks++, .tid = tid, .stack = stack,
		.name = memory_text(thread, strlen(thread)) };
	return one;
}

/* stack 0: of the thread. */
static bool is_of(const struct tracks_one *one, const struct xaudit_read_process *process, uint32_t tid, uint32_t stack)
{
	return one->track.process == process &&
		(stack ? one->stack == stack : !one->track.stack && one->track.tid == tid);
}

static struct tracks_one *find(struct tracks *tracks, struct xaudit_read_process *process, uint32_t tid,
	uint32_t stack, const char *thread)
{
	uint32_t hash = hash_key((uintptr_t)process, stack ? stack | 1ull << 32 : tid);
	struct tracks_one *one;

	if (tracks->recent && is_of(tracks->recent, process, tid, stack))
		return tracks->recent;
	uint32_t number = HASH_FIND(i, &tracks->table, hash, is_of(tracks->one[i], process, tid, stack));
	if (number == HASH_NONE) {
		/* A thread's first stack is as good as the thread. */
		one = stack ? find(tracks, process, tid, 0, thread) : begin(tracks, process, tid, 0, thread);
		if (stack && (one->room || one->stack))
			one = begin(tracks, process, tid, stack, thread);
		one->stack = stack;
		number = one->track.number;
		memory_hash(&tracks->table, hash, number);
	}
	tracks->recent = tracks->one[number];
	return tracks->recent;
}

/* Of the high half of user[0]: the number of the track + 1. */
static struct tracks_one *known(const struct tracks *tracks, const struct xaudit_read_call *call)
{
	uint32_t number = (uint32_t)(call->user[0] >> 32);

	return number ? tracks->one[number - 1] : NULL;
}

struct tracks_one *tracks_of(const struct tracks *tracks, const struct xaudit_read_call *call)
{
	struct tracks_one *one = NULL;

	for (; call && !one; call = call->parent)
		one = known(tracks, call);
	return one;
}

/* The innermost call around it that was entered. */
static const struct xaudit_read_call *entered(const struct xaudit_read_call *call)
{
	do
		call = call->parent;
	while (call && !tracks_has(call));
	return call;
}

/* One on which the call nests, and where the time does not go back. */
static struct tracks_one *choose(struct tracks *tracks, const struct xaudit_read_call *call, const char *thread)
{
	const struct xaudit_read_call *around = entered(call);
	struct tracks_one *one = around ? known(tracks, around) : NULL;

	if (one && one->top == around)
		return one;
	/* Those beside it are few: a thread's id was used again, or a stack was taken apart. */
	for (one = find(tracks, call->process, call->tid, call->stack, thread); one->top || one->last > call->start;
		one = one->next) {
		if (one->next)
			continue;
		one->next = begin(tracks, call->process, call->tid, call->stack, thread);
		one->next->track.beside = one->track.beside + 1;
	}
	return one;
}

struct export_call tracks_enter(struct tracks *tracks, struct xaudit_read_call *call, const char *thread)
{
	struct tracks_one *one = choose(tracks, call, thread);
	struct export_call is = { .call = call, .track = &one->track, .depth = one->open,
		.start = tracks_time(one, call->start) };

	if (one->open == one->room) {
		one->room = one->room ? one->room * 2 : 16;
		one->start = memory_resize(one->start, one->room, sizeof(*one->start));
	}
	one->start[one->open++] = is.start;
	one->top = call;
	call->user[0] = (call->user[0] & UINT32_MAX) | (uint64_t)(one->track.number + 1) << 32;
	return is;
}

struct export_call tracks_leave(struct tracks *tracks, const struct xaudit_read_call *call, uint64_t time)
{
	const struct xaudit_read_call *around = entered(call);
	struct tracks_one *one = known(tracks, call);
	bool is_known = call->end != XAUDIT_READ_UNKNOWN;

	/* A call around it that is on another track is not innermost here. */
	one->top = around && known(tracks, around) == one ? around : NULL;
	one->open--;
	return (struct export_call){ .call = call, .track = &one->track, .depth = one->open,
		.start = one->start[one->open], .end = tracks_time(one, is_known ? call->end : time),
		.known = is_known };
}

struct tracks_one *tracks_thread(
	struct tracks *tracks, struct xaudit_read_process *process, uint32_t tid, const char *thread)
{
	return find(tracks, process, tid, 0, thread);
}

void tracks_free(struct tracks *tracks)
{
	for (uint32_t i = 0; i < tracks->tracks; i++) {
		waiting_free(&tracks->one[i]->waiting);
		free(tracks->one[i]->track.name);
		free(tracks->one[i]->start);
		free(tracks->one[i]);
	}
	free(tracks->one);
	hash_free(&tracks->table);
}
