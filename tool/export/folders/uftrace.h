/* SPDX-License-Identifier: MIT */
/*
 * The format uftrace of `xaudit export`: a folder as uftrace 0.13 reads it. In it are
 *
 *	TID.dat			per track: 16 bytes per entry, exit, event and loss; values follow theirs
 *	events.txt		names of custom events; the text of one is part of it
 *	task.txt		sessions (one per program that was executed), forks, loads and threads
 *	extern.dat		loads and unloads as comments
 *	sid-N.map, *.sym, *.dbg	per session, and per object: where it is (places.h), its functions, what their values
 *				look like
 *	info			what else uftrace wants to know
 *
 * One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_FOLDERS_UFTRACE_H
#define XAUDIT_TOOL_EXPORT_FOLDERS_UFTRACE_H

#include "tool/export/folders/places.h"
#include "tool/export/folders/tids.h"
#include "tool/export/folders/track_files.h"
#include "tool/export/folders/uftrace_values.h"
#include "tool/export/format.h"

/* A track, or several that share a tid one after the other. */
struct uftrace_task {
	struct track_file file; /* the first: its user is this */
	uint32_t tid;
};

struct uftrace {
	struct places places;
	struct tids tids;
	struct track_files files;
	struct uftrace_task **task; /* by hash of tid */
	uint32_t tasks;
	struct hash by_tid;
	struct uftrace_spec *spec; /* by number of a function */
	uint32_t specs;
	char **event; /* names of custom events */
	uint32_t events;
	struct hash by_event;
	FILE *lines;	/* task.txt */
	FILE *comments; /* extern.dat */
	uint32_t depth; /* the most */
	uint64_t first, last;
	uint32_t *session; /* by number of a process: the number of the process whose program it runs */
	uint32_t processes;
	char **path; /* by number of an object: what uftrace knows it by */
	uint32_t paths;
	struct hash by_file; /* names of .sym files, by number of the object */
	char **file;
};

#endif
