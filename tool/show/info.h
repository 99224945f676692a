/* SPDX-License-Identifier: MIT */
/* What `xaudit info` finds out about the thread files, for both of its formats. */
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
	bool estimated;		 /* events and custom ones were counted in some chunks only */
	uint64_t first, last; /* ns, CLOCK_MONOTONIC, of events; first is UINT64_MAX if there are none */
};

/* Reads the thread files of a process. */
void info_count(struct info_sums *sums, struct read_process *process);

/*
 * The same, but reads only about so many bytes of events. Of the other chunks, those that are finished, only the head
 * is read, and events and custom ones are taken to be as many in them, word for word, as in what was read. first, last,
 * threads and crashes are of what was read, too.
 */
void info_estimate(struct info_sums *sums, struct read_process *process, uint64_t bytes);

struct show_colors;

/* Writes what stands in place of each process where they are many: lines per program, what became of them, their
 * notes. */
void info_many(const struct read_folder *folder, const struct info_sums *sums, const struct show_colors *color);

/* Writes all as one JSON object. sums: one per process. */
void info_json(struct read_folder *folder, const struct info_sums *sums, const struct info_sums *all);

/*
 * Private memory that each process of the program pays for the patched code of an object, in bytes: one page each. A
 * further process that runs the same program pays it again, unless it was forked off later.
 */
uint64_t info_private(const struct read_object *object);

/* The word of a kind; NULL for a number that the format does not know. */
const char *info_kind(unsigned kind);

/* Why events could not be recorded, by lost_error of the head of a version 1; NULL: nobody knows. */
const char *info_lost_reason(uint32_t error);

/* And why `record` could not help with a file, by record_error; NULL: it was not needed, or did. */
const char *info_record_reason(uint32_t error);

/* Moment of the first pair on CLOCK_REALTIME, ns; 0: not recorded. */
uint64_t info_began(const struct read_folder *folder);

#endif
