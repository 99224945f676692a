/* SPDX-License-Identifier: MIT */
/*
 * What the format ctf of `xaudit export` is made of: a folder in CTF 1.8, with names of events as LTTng-UST has them,
 * by which Trace Compass finds calls and the libraries that they are in. In it are
 *
 *	track-N		a stream per track: calls, custom events, losses
 *	loads		loads and unloads of all processes, and what is loaded where one was forked
 *	runs-N		per thread of which it is known, when it was on a processor
 *	about		processes and functions, at the start of the trace
 *	metadata	what all events look like; the functions' names are those of an enumeration
 *
 * All of them are packets of TRACK_FILES_PIECE at most (track_files.h), with events of ctf_events below, and such as
 * ctf_types.h has. Addresses are made up (places.h), and so are some threads' ids (tids.h).
 *
 * One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_FOLDERS_CTF_H
#define XAUDIT_TOOL_EXPORT_FOLDERS_CTF_H

#include "tool/export/folders/ctf_callers.h"
#include "tool/export/folders/ctf_types.h"
#include "tool/export/folders/places.h"
#include "tool/export/folders/tids.h"
#include "tool/export/folders/track_files.h"
#include "tool/export/format.h"

/* Numbers of events that every trace has; those of ctf_types.h come behind. Their fields are in ctf_metadata.c. */
enum ctf_event {
	CTF_ENTRY,
	CTF_EXIT,
	CTF_ENTRY_VALUES,
	CTF_EXIT_VALUES,
	CTF_ENTRY_REQUEST,
	CTF_ENTRY_CALLERS,
	CTF_ENTRY_REQUEST_CALLERS,
	CTF_TRACK,
	CTF_OVERWRITTEN,
	CTF_DLOPEN,
	CTF_DLCLOSE,
	CTF_BUILD_ID,
	CTF_DUMP_START,
	CTF_DUMP_BINARY,
	CTF_DUMP_BUILD_ID,
	CTF_DUMP_END,
	CTF_RUN,
	CTF_PROCESS,
	CTF_FUNCTION,
	CTF_COUNTED,
	CTF_EVENTS
};

struct ctf_stream {
	struct track_file file; /* the first */
	uint32_t pid, tid;
	char name[16];	/* of the thread, when it was met, or of its program */
	const struct export_track *track; /* NULL: it is of none */
	uint64_t first, last; /* of the packet that is begun */
	uint64_t lost;
};

/* The fields of an event that is being made. */
struct ctf_fields {
	size_t size;
	uint8_t bytes[TRACK_FILES_PIECE - 256];
};

/* What is loaded in a process. */
struct ctf_loads {
	uint32_t *object;
	uint32_t count;
};

struct ctf {
	struct places places;
	struct tids tids;
	struct track_files files;
	struct ctf_types types;
	struct ctf_callers callers;
	struct ctf_fields fields;
	struct ctf_stream loads, about, *runs;
	struct ctf_stream **stream; /* all others */
	uint32_t streams, tracks, run_streams;
	const struct xaudit_read_process *run_process; /* and thread, that `runs` is of */
	uint32_t run_tid;
	uint32_t *id; /* by number of a function: its number in the enumeration + 1 */
	uint32_t room;
	const struct xaudit_read_function **function; /* by that number */
	uint32_t functions;
	struct ctf_loads *loaded; /* by number of a process */
	uint32_t processes, dumped; /* the first of these have begun, and were told of */
};

#endif
