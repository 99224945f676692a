/* SPDX-License-Identifier: MIT */
/*
 * What formats of calls in time (chrome, perfetto) have in common: numbers and names of processes and threads, and what
 * events are called that are no calls. The caller frees names. One thread.
 *
 * Readers know processes by their ids alone. So where processes of a trace have the same id, all but the first have
 * another number in the file; their names tell the id.
 */
#ifndef XAUDIT_TOOL_EXPORT_TIME_TIMELINE_H
#define XAUDIT_TOOL_EXPORT_TIME_TIMELINE_H

#include "tool/base/hash.h"
#include "tool/export/format.h"

#define TIMELINE_OTHER 10000000u /* numbers that no process or thread has: these are below 2^22 */

struct timeline {
	uint32_t *pid; /* in the file, by number of the process */
	uint32_t processes;
	struct hash numbers; /* of processes, by address */
	struct hash threads; /* made when it is first asked for */
	uint32_t known; /* how many threads are in it */
};

void timeline_begin(struct timeline *timeline, const struct export *export);
void timeline_free(struct timeline *timeline);

/* The number of a process in the trace, and that in the file. */
uint32_t timeline_number(const struct timeline *timeline, const struct export *export,
	const struct xaudit_read_process *process);
uint32_t timeline_pid(const struct timeline *timeline, const struct export *export,
	const struct xaudit_read_process *process);

char *timeline_process_name(const struct timeline *timeline, const struct export *export, uint32_t number);

/* The newest name of a thread, which may have got one after its first call. Not to be freed. NULL: none is known. */
const char *timeline_thread_name(struct timeline *timeline, const struct export *export,
	const struct xaudit_read_process *process, uint32_t tid);

/* What a track is called by that name of its thread. */
char *timeline_track_name(
	struct timeline *timeline, const struct export *export, const struct export_track *track);

/* The same of the row that tells when a thread was on processors. */
char *timeline_lane_name(struct timeline *timeline, const struct export *export,
	const struct xaudit_read_process *process, uint32_t tid);

/* "on CPU", "preempted", "not known"; NULL: the thread waits, and nothing is drawn. Not to be freed. */
const char *timeline_run(const struct xaudit_read_run *run);

/* Of loads, changes and custom events that are told of: is it between --from and --to? */
static inline bool timeline_is_in(const struct export *export, uint64_t time)
{
	return time >= export->from && (!export->to || time < export->to);
}

char *timeline_load_name(const struct xaudit_read_event *event);
char *timeline_change_name(const struct xaudit_read_event *event); /* of change() */
char *timeline_custom_name(const struct xaudit_read_item *item);   /* a mark is its text */
char *timeline_lost_name(const struct xaudit_read_item *item);
char *timeline_counted_name(const struct xaudit_read_item *item);

#endif
