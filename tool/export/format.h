/* SPDX-License-Identifier: MIT */
/*
 * What a format of `xaudit export` is: functions that are told of all that is to be written, by tool/export/pass.c. In
 * this order:
 *
 *	begin()
 *	load(), change()	loads and unloads of all processes, in the order of time
 *	run()			when threads were on processors, thread by thread, in the order of time
 *	enter() ... leave()	calls, and between them custom(), probe() and lost(): process by process, thread record
 *				by thread record, within one in the order of time
 *	counted()		calls that were only counted, behind those of their process
 *	end()			if nothing has failed
 *	free_state()
 *
 * On one track, times never go back, and calls nest: the call that leaves is the one that was entered last, and all
 * leave before the track's process is over. Tracks come one after the other or, where threads go on with each other's
 * calls, mixed. Calls that the options leave out are not told of at all; with --min, calls are told of when it is known
 * that they are long enough, still in that order. A call of which only the entry is recorded enters and leaves at once.
 *
 * A format has no state but what `begin` makes (export->state). Only the functions that it needs are set. It writes to
 * export->out.file, or to files that export_file() makes, and leaves errors in these; it asks nobody whether they are
 * broken, since the pass does that. Names and texts of the trace hold any bytes: each format makes them harmless for
 * what reads it. One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_FORMAT_H
#define XAUDIT_TOOL_EXPORT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/base/out_file.h"
#include "tool/read/api/xaudit-read.h"
#include "tool/show/event_format.h"

/* Where calls nest: a thread, or a stack that threads take turns on. */
struct export_track {
	struct xaudit_read_process *process;
	uint32_t number; /* 0, 1, ... over all processes, in the order in which they were met */
	uint32_t tid;	 /* the thread; of a stack the one that was met on it first */
	uint32_t stack;	 /* number of the stack in its process; 0: the thread's only one, or its first one */
	uint32_t beside; /* not 0: calls of that thread, or stack, which do not nest with those of its other tracks */
	char *name;	 /* of that thread, when it was met; or empty */
	uint64_t mark;	 /* the format's own, first 0 */
	void *user;	 /* likewise, first NULL */
};

struct export {
	struct xaudit_read_trace *trace;
	const struct xaudit_read_trace_info *info;
	struct out_file out;  /* of formats of one file */
	const char *path;     /* of the folder, for messages, and its descriptor; of formats of several files */
	int folder;
	bool failed;	      /* set by who has said why: the command ends with status 1 */
	bool values;	      /* calls have theirs, if there are any */
	bool requests;	      /* likewise which request they belong to */
	const char *server;   /* of rowbinary: an address that it sends to, and there is no output; NULL */
	uint64_t from, to;    /* ns on the trace's clock; 0: from the start, to the end */
	struct event_formats events; /* --event-format */
	struct xaudit_read_calls *calls; /* from enter() to counted(); else NULL */
	const struct export_format *format;
	void *state;	      /* the format's own */
};

/* A call. Its times are those of its track, which never go back, though clocks of two processors may. */
struct export_call {
	const struct xaudit_read_call *call;
	struct export_track *track;
	uint32_t depth; /* how many calls that were entered are open around it on its track */
	uint64_t start;
	uint64_t end; /* of leave(): when it was over or, where that is not known, given up; of enter(): 0 */
	bool known;   /* its end is known */
};

struct export_format {
	const char *name;
	const char *help; /* what is behind the name in the list of --help */
	bool folder; /* it has several files: -o names a folder, and must be given */
	bool file;   /* it writes all over a file, export->out.made: -o must name one */
	bool text;   /* it may go to a terminal */
	/* Of one that can be sent: what is wrong with an address, a phrase, or NULL. */
	const char *(*server_wrong)(const char *url);
	/* Prints the tables of a server of that kind. Returns false if there is no such kind. */
	bool (*schema)(FILE *file, const char *kind);
	void (*begin)(struct export *export);
	void (*load)(struct export *export, const struct xaudit_read_event *event); /* LOAD and UNLOAD */
	/* CHANGE; and CRASH, behind the calls of its process: of that process, time and signal are set. */
	void (*change)(struct export *export, const struct xaudit_read_event *event);
	/* A state of a thread (xaudit_read_runs()), as much of it as lies between --from and --to. */
	void (*run)(struct export *export, struct xaudit_read_process *process, uint32_t tid,
		const struct xaudit_read_run *run);
	void (*enter)(struct export *export, const struct export_call *call);
	void (*leave)(struct export *export, const struct export_call *call);
	/* Of the item time, type, type_number, data, data_size; call: the innermost one around it, or NULL. */
	void (*custom)(struct export *export, struct export_track *track, const struct xaudit_read_item *item);
	/* Of the item time, probe, values, and call as above. Of what was only counted nothing is told. */
	void (*probe)(struct export *export, struct export_track *track, const struct xaudit_read_item *item);
	/* LOST and GONE. track: where; NULL: it is not known where in the process */
	void (*lost)(struct export *export, struct export_track *track, const struct xaudit_read_item *item);
	void (*counted)(struct export *export, const struct xaudit_read_item *item);
	void (*end)(struct export *export);
	/* Gives back what begin() made, also when something has failed, and end() was not called. */
	void (*free_state)(struct export *export);
};

/* All of them, in the order of --help; the last one has no name. */
extern const struct export_format *const export_formats[];

/* Of folders that stand on this one. */
extern const struct export_format export_callgrind, export_chrome, export_csv, export_ctf, export_folded, export_ndjson,
	export_perfetto, export_pprof, export_rowbinary, export_speedscope, export_sqlite, export_uftrace, export_xray;

/* ---- for formats ---- */

/* A new file in the folder, with a buffer of its own; NULL, and export->failed, after a line. */
FILE *export_file(struct export *export, const char *name);

/* Closes it; when it could not be written, export->failed, after a line. */
void export_file_end(struct export *export, const char *name, FILE *file);

/* A time of the trace as ns after its start; 0 for what was before. */
uint64_t export_after(const struct export *export, uint64_t time);

/* A time of the trace as ns since 1970; if that is not known, as it is. */
uint64_t export_real(const struct export *export, uint64_t time);

/* The time of a call that is over, from entry to end, as report adds them up; 0 if its end is not known. */
uint64_t export_duration(const struct export *export, const struct xaudit_read_call *call);

/*
 * Formats of a row per call: its number in the export, from 1 on; that of the innermost call around it that is told of,
 * or 0; and how it ended, in a word.
 */
static inline uint64_t export_id(const struct xaudit_read_call *call)
{
	return call->id + 1;
}
const struct xaudit_read_call *export_parent_call(const struct xaudit_read_call *call);
uint64_t export_parent(const struct xaudit_read_call *call);

/* The same of the call that a custom event was made in. */
uint64_t export_around(const struct xaudit_read_item *item);
const char *export_how(const struct xaudit_read_call *call);

/* The name of its host, without what a trace has of the kernel behind it; empty: not recorded. The caller frees it. */
char *export_host(struct xaudit_read_process *process);

/* What a track is called: the thread's name and number, and the stack's; the caller frees it. */
char *export_track_name(const struct export_track *track);

#endif
