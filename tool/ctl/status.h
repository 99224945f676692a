/* SPDX-License-Identifier: MIT */
/*
 * What `xaudit ctl PID status` tells, found in a process (tool/ctl/live.c) or in a trace (tool/ctl/trace.c). These two
 * are separate files since module and reader have different structures of the same names. One thread.
 */
#ifndef XAUDIT_TOOL_CTL_STATUS_H
#define XAUDIT_TOOL_CTL_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"
#include "tool/ctl/ctl.h"

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

/* Reads all but events from the process's memory. Returns whether that could be read; if not, has said why. */
bool status_live(struct status *status, const struct ctl_process *process);

/* Reads the events from the trace of a process; silent. */
void status_events(struct status *status);

/*
 * Reads a trace folder, or the folder of one of its processes. Returns an array of *count. NULL after saying why not.
 */
struct status *status_trace(const char *path, size_t *count, int *damage);

#endif
