/* SPDX-License-Identifier: MIT */
/*
 * The tracks of an export (tool/export/format.h): which one a call belongs to. A call is on the track of the call
 * around it if that is the innermost open one there; else on its thread's, or its stack's. Where stacks have numbers,
 * that of a thread is the one on which its first call is met. Where neither nests, or the time would go back (a thread
 * id that was used twice), it gets a track beside them. So what formats are promised of tracks holds whatever the trace
 * has. One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_TRACKS_H
#define XAUDIT_TOOL_EXPORT_TRACKS_H

#include <stddef.h>

#include "tool/base/hash.h"
#include "tool/export/format.h"
#include "tool/export/waiting.h"

/* A track, and what the pass knows of it. */
struct tracks_one {
	struct export_track track; /* the first: formats have its address */
	uint32_t stack; /* whose calls it has, be it that of a thread; 0: none that has a number */
	const struct xaudit_read_call *top; /* the innermost open call; NULL */
	uint64_t last;	 /* nothing on it may be earlier */
	uint64_t *start; /* of its open calls, the outermost first */
	uint32_t open, room;
	struct waiting waiting;
	struct tracks_one *next; /* beside it; NULL */
};

/* Zeroed memory has none. */
struct tracks {
	struct tracks_one **one; /* by number */
	uint32_t tracks;
	struct hash table; /* those that are beside no other */
	struct tracks_one *recent;
};

/*
 * A call begins, and becomes the innermost one of its track: the high half of call->user[0] knows that from then on,
 * and is nobody else's.
 */
struct export_call tracks_enter(struct tracks *tracks, struct xaudit_read_call *call, const char *thread);

/* A call that was entered is over, or is given up, at `time`. */
struct export_call tracks_leave(struct tracks *tracks, const struct xaudit_read_call *call, uint64_t time);

/* Was the call entered? */
static inline bool tracks_has(const struct xaudit_read_call *call)
{
	return call->user[0] >> 32;
}

/* What the pass knows of a format's track. */
static inline struct tracks_one *tracks_one(struct export_track *track)
{
	return (struct tracks_one *)(void *)((char *)track - offsetof(struct tracks_one, track));
}

/* The track of a call that was entered, or of the innermost one around it that was; NULL: there is none. */
struct tracks_one *tracks_of(const struct tracks *tracks, const struct xaudit_read_call *call);

/* The track of a thread that is in no call. */
struct tracks_one *tracks_thread(
	struct tracks *tracks, struct xaudit_read_process *process, uint32_t tid, const char *thread);

/* A time on the track, which never goes back. */
static inline uint64_t tracks_time(struct tracks_one *one, uint64_t time)
{
	one->last = time > one->last ? time : one->last;
	return one->last;
}

/* Frees them. */
void tracks_free(struct tracks *tracks);

#endif
