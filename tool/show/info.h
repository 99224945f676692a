/* SPDX-License-Identifier: MIT */
/* What `xaudit info` finds out about the thread files, for both formats of its output. */
#ifndef XAUDIT_TOOL_SHOW_INFO_H
#define XAUDIT_TOOL_SHOW_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/read/folder.h"

struct info_sums {
	uint64_t threads; /* that had events or a file */
	uint64_t events;  /* entries, ends and points; not what belongs to the format */
	uint64_t disk;	  /* bytes that the files of events take */
	uint64_t lost;
	uint64_t lost_by[TRACE_LOST_ROOM]; /* by cause; version 1: zeros */
	uint64_t counted;     /* calls without time */
	uint64_t overwritten; /* chunks */
	uint64_t custom, custom_bytes; /* custom events, and their data */
	uint64_t unfinished;	       /* custom events that were begun and not finished; not in the two */
	uint64_t crashes;
	int signal; /* of the last of them */
	uint64_t words, skipped; /* of finished chunks: read, and not read for their number */
	bool estimated;		 /* events and custom events were counted in some chunks only */
	uint64_t first, last; /* ns, CLOCK_MONOTONIC, of events; first is UINT64_MAX if there are none */
};

/* Reads the thread files of a process. */
void info_count(struct info_sums *sums, struct read_process *process);

/*
 * Estimates what info_count() counts, reading only about so many bytes of events. Of the other finished chunks only the
 * head is read; they are taken to have as many events and custom events per word as the chunks that were read. first,
 * last, threads and crashes come from the chunks that were read, too.
 */
void info_estimate(struct info_sums *sums, struct read_process *process, uint64_t bytes);

struct show_colors;

/*
 * Where there are many processes, writes this in place of each of them: lines per program, how its processes ended,
 * their notes.
 */
void info_many(const struct read_folder *folder, const struct info_sums *sums, const struct show_colors *color);

/* Writes all that `xaudit info` tells as one JSON object. sums: one per process. */
void info_json(struct read_folder *folder, const struct info_sums *sums, const struct info_sums *all);

/*
 * Private memory that each process of the program pays for the patched code of an object, in bytes: one page each. A
 * further process that runs the same program pays it again, unless it was forked off later.
 */
uint64_t info_private(const struct read_object *object);

/* The word of a kind; NULL for a number that the format does not know. */
const char *info_kind(unsigned kind);

/* Why events could not be recorded, by lost_error of the head in version 1; NULL: not known. */
const char *info_lost_reason(uint32_t error);

/* Why `record` could not help with a file, by record_error; NULL: no help was needed, or it helped. */
const char *info_record_reason(uint32_t error);

/* Moment of the first pair on CLOCK_REALTIME, ns; 0: not recorded. */
uint64_t info_began(const struct read_folder *folder);

#endif
