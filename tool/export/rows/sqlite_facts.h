/* SPDX-License-Identifier: MIT */
/*
 * What calls of a database (sqlite_tables.h) refer to: processes, threads, tracks, functions and libraries, and their
 * values. Their numbers are those of the trace, or of the order in which they are met, and begin with 1. One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_ROWS_SQLITE_FACTS_H
#define XAUDIT_TOOL_EXPORT_ROWS_SQLITE_FACTS_H

#include "tool/base/hash.h"
#include "tool/export/rows/sqlite_tables.h"

struct sqlite_facts {
	struct sqlite_tables *tables;
	struct xaudit_read_process **process; /* by number; as many as the trace has */
	uint32_t recent; /* of them, the one that was asked for last */
	const struct xaudit_read_object **library;
	uint32_t libraries;
	struct hash by_library;
	struct sqlite_thread {
		struct xaudit_read_process *process;
		uint32_t tid;
	} *thread;
	uint32_t threads, last; /* last: the one that was asked for last */
	struct hash by_thread;
	uint64_t probe_events;
};

/* Begins: writes the processes. */
void sqlite_facts_begin(struct sqlite_facts *facts, struct sqlite_tables *tables);

/* Writes what was met. */
void sqlite_facts_end(struct sqlite_facts *facts);
void sqlite_facts_free(struct sqlite_facts *facts);

/* Their numbers. */
uint64_t sqlite_process(struct sqlite_facts *facts, const struct xaudit_read_process *process);
uint64_t sqlite_library(struct sqlite_facts *facts, const struct xaudit_read_object *object);
uint64_t sqlite_thread(struct sqlite_facts *facts, struct xaudit_read_process *process, uint32_t tid);
uint64_t sqlite_track(struct sqlite_facts *facts, struct export_track *track);

/* Writes the values of a call. */
void sqlite_values(struct sqlite_facts *facts, const struct xaudit_read_call *call);

/* Writes that a thread came to a probe, in that call or 0, and the values. */
void sqlite_probe(
	struct sqlite_facts *facts, struct export_track *track, const struct xaudit_read_item *item, uint64_t call);

#endif
