/* SPDX-License-Identifier: MIT */
/*
 * What `xaudit ctl PID status` tells, found in a process (status_live.h) or in a trace (status_trace.h). These two
 * are separate files since module and reader have different structures of the same names. One thread.
 */
#ifndef XAUDIT_TOOL_CTL_STATUS_H
#define XAUDIT_TOOL_CTL_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"

struct ctl_targets;

struct status_kind {
	uint64_t functions; /* those that can be switched; of bindings: those that were bound */
	uint64_t sites;	    /* in all loads */
	uint64_t on;	    /* sites; in a trace: functions that were traced */
};

struct status_object {
	char *path;
	uint64_t loads; /* that are open now */
	struct status_kind kind[TRACE_KIND_COUNT];
	bool has_pages;
	uint64_t text, patched; /* pages of its executable mappings; in all loads */
	uint64_t private_kb;	/* of patched pages that no other process shares */
};

struct status {
	uint32_t pid;
	bool alive;	  /* found in the process itself */
	const char *end;  /* for people, how it ended: "has ended"; NULL: it runs */
	char *folder;	  /* path that names the trace; NULL: none yet */
	uint32_t place;	  /* of the head, where that is a folder */
	bool cut;	  /* the process's data had no end: only a part was read */
	bool switched_off;
	char *why;	  /* nothing is recorded; NULL: no such reason is known */
	uint32_t mode;	  /* enum trace_mode */
	bool recording;
	uint64_t epoch, waiting; /* loads that are retired, not yet freed */
	bool has_events;
	bool estimated; /* the number of events */
	uint64_t threads, events, counted, lost, disk;
	/*
	 * kB that xaudit has in the memory of the process, as far as it can be told; shared pages of files count in
	 * whole.
	 */
	uint64_t module_kb, stubs_kb, mirror_kb, buffers_kb;
	struct status_object *object;
	size_t objects;
};

/* `xaudit ctl PID status`, as a table, or as JSON. where: a trace folder instead, or NULL. Returns the exit status. */
int ctl_status(const struct ctl_targets *targets, const char *where, int argc, char **argv);

#endif
