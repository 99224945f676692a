/* SPDX-License-Identifier: MIT */
/*
 * What is behind xaudit-read.h: the trace, which owns all that was made of it, its processes and its functions.
 *
 * One thread per trace. Memory that runs out is remembered in trace->folder->damage, as everywhere in tool/read.
 */
#ifndef XAUDIT_TOOL_READ_API_H
#define XAUDIT_TOOL_READ_API_H

#include <stdbool.h>

#include "tool/base/hash.h"
#include "tool/read/api/xaudit-read.h"
#include "tool/read/folder.h"
#include "tool/read/sched/sched.h"

struct xaudit_read_process {
	struct xaudit_read_trace *trace;
	struct read_process *read;
	uint32_t number;
	uint32_t users; /* read_api_take() */
	bool known;	/* info is filled in */
	bool kept;	/* it was taken for its facts */
	struct xaudit_read_process_info info;
	struct xaudit_read_head head;
	struct xaudit_read_executed executed;
	struct read_api_facts *facts; /* NULL: they were not asked for */
	struct read_api_keys *keys;   /* its backtraces (frames.h); NULL: they were not asked for */
	struct read_api_probe_id {
		uint32_t id;
		const struct xaudit_read_probe *probe;
	} *probe; /* those that were met */
	uint32_t probes;
	struct hash by_probe_id; /* of probe[]: the hash is the id */
};

#define READ_API_COMM 16 /* bytes of a thread's name, without NUL if it is that long */

struct read_api_thread {
	struct xaudit_read_thread public;
	char name[READ_API_COMM + 1];
};

struct read_api_probe {
	struct xaudit_read_probe public;
	struct xaudit_read_trace *trace;
	char *function; /* around it, as the trace knows it, and where that begins; NULL: it does not */
	uint64_t start;
	bool known; /* the file was asked: */
	struct xaudit_read_symbol symbol;
};

struct xaudit_read_trace {
	struct read_folder *folder;
	struct xaudit_read_trace_info info;
	struct xaudit_read_process *process; /* as many as info.processes */
	struct xaudit_read_function **function; /* by number */
	struct xaudit_read_object **object;	/* in the order in which they were met */
	uint32_t functions, objects;
	struct hash by_name, by_path; /* of a function's object and name, and of an object's path */
	struct read_api_probe **probe; /* by number */
	uint32_t probes;
	struct hash by_probe; /* of its name, object and address */
	struct read_api_thread **thread; /* by number */
	uint32_t threads;
	struct hash by_tid; /* of its process and tid */
	struct xaudit_read_calls *calls; /* the newest one that is open */
	struct xaudit_read_events *events;
	struct read_sched *sched; /* read_api_sched(); NULL: not asked for, or there is none */
	bool sched_known;
	struct xaudit_read_follow *follows; /* all that are open */
	struct read_api_stacks *stacks; /* frames.h; NULL: they were not asked for */
};

#endif
