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
	struct read_api_facts *facts; /* NULL: they were not asked for */
};

#define READ_API_COMM 16 /* bytes of a thread's name, without NUL if it is that long */

struct read_api_thread {
	struct xaudit_read_thread public;
	char name[READ_API_COMM + 1];
};

struct xaudit_read_trace {
	struct read_folder *folder;
	struct xaudit_read_trace_info info;
	struct xaudit_read_process *process; /* as many as info.processes */
	struct xaudit_read_function **function; /* by number */
	struct xaudit_read_object **object;	/* in the order in which they were met */
	uint32_t functions, objects;
	struct hash by_name, by_path; /* of a function's object and name, and of an object's path */
	struct read_api_thread **thread; /* by number */
	uint32_t threads;
	struct hash by_tid; /* of its process and tid */
	struct xaudit_read_calls *calls; /* the newest one that is open */
	struct xaudit_read_events *events;
	struct read_sched *sched; /* read_api_sched(); NULL: not asked for, or there is none */
	bool sched_known;
	struct xaudit_read_follow *follows; /* all that are open */
};

/* ---- open.c ---- */

/* The records of a process are needed from here on, and no more. Uses may overlap. */
void read_api_take(struct xaudit_read_process *process);
void read_api_leave(struct xaudit_read_process *process);

/* Fills in *error, unless NULL. */
void read_api_error(struct xaudit_read_error *error, enum xaudit_read_why why, const char *text);

/*
 * The value of a field of options that a caller has made, whose `size` comes first: 0 if there are no options, or if
 * they come from a time when there was no such field.
 */
#define READ_API_OPTION(options, field)                                                                              \
	((options) && (options)->size >= offsetof(__typeof__(*(options)), field) + sizeof((options)->field) ?        \
			(options)->field :                                                                           \
			0)

/* ---- facts.c ---- */

void read_api_facts_free(struct read_api_facts *facts); /* NULL: nothing */

/* The change of that number in the process, which is loaded. */
void read_api_change(struct xaudit_read_change *to, struct xaudit_read_process *process, uint32_t number);

/* ---- cpu.c ---- */

/*
 * When threads were on processors; NULL: no switches were recorded, or there is no memory. The first call reads the
 * file, so that must be done before several threads ask.
 */
struct read_sched *read_api_sched(struct xaudit_read_trace *trace);

/* The same, whatever the file holds; NULL: there is none. */
struct read_sched *read_api_sched_file(struct xaudit_read_trace *trace);

/* ---- functions.c ---- */

/* The function that a process calls so (read_process_function()); NULL stands for "[unknown]". NULL: no memory. */
const struct xaudit_read_function *read_api_function(
	struct xaudit_read_process *process, const struct read_function *function);

/* The object in a process; NULL stands for "[unknown]". NULL: no memory. */
const struct xaudit_read_object *read_api_object(struct xaudit_read_trace *trace, const struct read_object *object);

void read_api_free_functions(struct xaudit_read_trace *trace);

/* ---- threads.c ---- */

/* A thread was met; comm: as in a chunk's head. */
void read_api_thread(struct xaudit_read_process *process, uint32_t tid, const char comm[READ_API_COMM]);
void read_api_free_threads(struct xaudit_read_trace *trace);

#endif
