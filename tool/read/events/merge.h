/* SPDX-License-Identifier: MIT */
/*
 * All events of a trace folder in time order: a heap of one source per thread record, and one per meta for loads,
 * unloads and changes.
 *
 * At one moment, a load comes before the events of threads and an unload after them. An event whose time steps back
 * gets the latest time so far of its file, so times that read_merge_next() returns never step back within a file.
 * Memory: per thread file (a block of words), function and load in force.
 */
#ifndef XAUDIT_TOOL_READ_MERGE_H
#define XAUDIT_TOOL_READ_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/read/events/events.h"
#include "tool/read/folder.h"
#include "tool/read/meta.h"

enum read_merge_type {
	/* function, id, tid; of one with values layout, flawed, and count bytes at `data`. So are the next four */
	READ_MERGE_ENTRY = TRACE_ENTRY,
	READ_MERGE_EXIT = TRACE_EXIT,
	READ_MERGE_TAIL = TRACE_TAIL,
	READ_MERGE_UNWIND = TRACE_UNWIND,
	READ_MERGE_POINT = TRACE_POINT,
	READ_MERGE_LOST = 16, /* count events of tid (0: of threads that have no file) were lost here */
	READ_MERGE_THREAD,	 /* the events of this source that follow are of thread tid, which has no open calls */
	READ_MERGE_LOAD,	 /* object, base, tid */
	READ_MERGE_UNLOAD,
	READ_MERGE_LOADER,	   /* tid; count and own: ns; id: not 0: it unmapped */
	READ_MERGE_CHANGE,	   /* tid; count: its index in process->change[] */
	READ_MERGE_CRASH,	   /* count: the signal that was about to end the process */
	READ_MERGE_CUSTOM,	   /* id: its type; count bytes at `data` */
	/* the events of this source that follow are on stack id; after READ_MERGE_THREAD on 0 */
	READ_MERGE_STACK,
	/* as READ_MERGE_STACK; all but the `count` innermost open calls go there, too; own: the outermost `count` do */
	READ_MERGE_PART,
	READ_MERGE_PROBE,	   /* id; as READ_MERGE_ENTRY, without a function */
	READ_MERGE_OVERWRITTEN, /* count chunks of this thread (0: not known how many)
			    * are not in the ring any more; what was open may have ended in them */
};

struct read_merge_event {
	enum read_merge_type type;
	uint32_t tid;
	uint32_t id;
	uint32_t index; /* of the function in the process; UINT32_MAX: meta does not name it */
	uint64_t time;	/* ns, CLOCK_MONOTONIC */
	uint64_t count;
	uint32_t stack; /* number of the stack that the event is on; 0: not known */
	struct read_object *object;
	uint64_t base;
	uint32_t load; /* number of the load */
	bool inherited; /* of loads and unloads: a process that this one was forked from saw it */
	uint64_t own;
	const struct read_layout *layout; /* of events of calls, and of probes; NULL: they have no values */
	bool flawed;
	struct read_chain chain; /* its backtrace, valid as `data`; */
	uint64_t ticks;		 /* and when that was */
	const uint8_t *key;	 /* of a custom event's backtrace, 8 bytes, likewise; NULL: it has none */
	const uint8_t *data; /* valid until the next read_merge_next() or read_merge_skip(); a zero follows */
};

/* A process, and what holds for it where the merge has come to. */
struct read_merge_process {
	struct read_process *process;
	unsigned first, end;	/* its sources: source[first] ... source[end - 1] */
	uint64_t lost_told;	/* how many of head.lost were told in the place where they were lost */
	struct read_load **load; /* in force, by number of the object, the newest first */
	uint32_t loads_room;
};

struct read_merge_source {
	struct read_process *process;
	struct read_merge_process *of;
	unsigned order;		 /* decides between equal times */
	bool is_meta;
	unsigned number;	 /* of the thread record */
	struct read_merge_event head; /* the event that comes next in this source */
	struct read_merge_event no_event; /* to copy: gcc would clear by an instruction that takes long (rep stos) */
	bool more;		 /* there is such an event */
	uint32_t at;		 /* place in the heap */
	void *user;		 /* the command's own */

	struct read_events events; /* of a thread record */
	/* data of the last two events that had some: the one that was returned, and the head; NULL: there was none */
	uint8_t *data;
	bool second;	    /* the last one is in the second half */

	struct read_meta meta; /* the records in meta; those of process->base come first: */
	size_t base_at;	  /* how many bytes of those were taken */
	bool of_base;	  /* the record that was taken last is one of those */
	uint64_t now;	  /* ticks, the latest so far */
	uint32_t changes;	      /* how many were taken */
	struct read_merge_load *load[64]; /* loads in force where the file is read, by number */
	bool lost_said;
};

struct read_merge {
	struct read_folder *folder;
	struct read_merge_process *process;
	unsigned processes;
	struct read_merge_source **source; /* all */
	unsigned sources;
	struct read_merge_source **heap;
	unsigned heaped;
};

/*
 * Loads the processes of the folder, or only one of them, and opens all files. Returns false, with nothing to be
 * closed, without memory. Then read_merge_begin(), before the first event is taken.
 */
bool read_merge_open(
	struct read_merge *merge, struct read_folder *folder, struct read_process *only, bool records_only);

/*
 * Who wants events from a moment on takes the words before it himself, in between. The first two are the hooks for
 * read_events_all() of a thread record: they set source->head, and it is the first event if source->more is set then.
 * The third passes over what a meta tells before that moment, in ns, but for what is loaded then.
 */
bool read_merge_take_event(void *source, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at);
bool read_merge_take_other(void *source, enum read_decoded what);
void read_merge_pass_meta(struct read_merge_source *source, uint64_t from);

/* Finds the first event of each source that has none yet. */
void read_merge_begin(struct read_merge *merge);

/*
 * Takes the earliest event. Returns its source, whose head is already the event after it; NULL: there are no more
 * events, or there is no memory. Updates what read_merge_load_of() returns: a load is in force from its event on,
 * until before its unload's.
 */
struct read_merge_source *read_merge_next(struct read_merge *merge, struct read_merge_event *event);

/* The newest load of an object of the source's process that is in force now, or NULL. */
static inline const struct read_load *read_merge_load_of(
	const struct read_merge_source *source, const struct read_object *object)
{
	return object->number < source->of->loads_room ? source->of->load[object->number] : NULL;
}

/* Takes the head of a source before its turn. */
void read_merge_skip(struct read_merge *merge, struct read_merge_source *source);

/* The function of an event, or NULL. Valid until the next read_merge_next() or read_merge_skip(). */
static inline const struct read_function *read_merge_function(
	const struct read_merge_source *source, const struct read_merge_event *event)
{
	return event->index == UINT32_MAX ? NULL : read_process_function_at(source->process, event->index);
}

/* What changed, for a READ_MERGE_CHANGE. Valid as long as read_merge_function()'s result. */
static inline const struct read_change *read_merge_change(
	const struct read_merge_source *source, const struct read_merge_event *event)
{
	return &source->process->change[event->count];
}

void read_merge_close(struct read_merge *merge);

#endif
