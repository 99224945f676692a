/* SPDX-License-Identifier: MIT */
/* Threads and memory of the processes that are checked.. One thread, which is the tracer of them all. */
#ifndef XAUDIT_TOOL_CHECK_TASKS_H
#define XAUDIT_TOOL_CHECK_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "audit/check/check.h"
#include "x86_64/remote.h"

struct check_growth;

/* Registers of a stopped thread, in DWARF's order, and perhaps a copy of its stack. */
struct check_snapshot {
	pid_t tid;
	char name[16];
	uint64_t regs[REMOTE_DWARF_REGISTERS];
	uint64_t thread; /* remote_thread() */
	uint64_t start; /* of the copy */
	size_t size;
	uint8_t *stack; /* size bytes, or NULL */
};

/* A library that is being closed, or is unmapped. A process and its forks share it. */
struct check_unload {
	unsigned users;
	struct {
		uint64_t load, base, start, end, text_start, text_end; /* as in struct check_message */
	} at;
	char *path;
	uint64_t device, inode, changed; /* of the file; 0: unknown */
	uint64_t when;			 /* CLOCK_MONOTONIC, ns; 0: not yet unmapped */
	struct check_snapshot *by;	 /* NULL: no longer kept */
};

/* Where libc has its data; and for each word, whether it may be a pointer to a list of functions for exit. */
struct check_libc_data {
	uint64_t start;
	size_t size; /* bytes */
	uint8_t *may_be_list;
};

struct check_process {
	struct check_process *next;
	pid_t pid;
	char name[16];
	bool started;		      /* the module has sent a message */
	bool executed;		      /* it has executed a program since we know it, or is forked from one that has */
	bool confined;		      /* it sends no more */
	int memory;		      /* /proc/PID/mem; -1: not open */
	struct check_unload **unload; /* in order of time */
	size_t unloads;
	struct check_growth *growth;
	uint64_t cost;	     /* memory that the checking costs it */
	int64_t thread_list; /* as in struct check_message */
	enum check_event last_event;
	uint64_t stack_end; /* of the first thread; 0: not known yet */
	/* Mappings, in order: start and end of each, as read since the last stop. 0: not read. */
	uint64_t *range;
	size_t ranges, ranges_room;
	struct check_libc_data *libc;
	size_t libcs;
	uint64_t libc_newest; /* as in struct check_message when libc's data was read; 0: not read yet */
};

struct check_task {
	struct check_task *next;
	pid_t tid;
	struct check_process *process;
	bool stopped;
	bool waiting; /* `status` has not been dealt with */
	int status;   /* as of waitpid */
};

void check_unload_release(struct check_unload *unload);

/* Called when processes change, for code that keeps data about them; to be set before the first process. */
struct check_judges {
	void (*inherited)(struct check_process *process, const struct check_process *parent); /* forked, not yet run */
	void (*gone)(struct check_process *process); /* its mappings are gone, or the process itself */
};
void check_judges_set(const struct check_judges *judges);

extern struct check_task *check_tasks;
extern struct check_process *check_processes;

struct check_task *check_task_find(pid_t tid);
/* Finds or makes the task. parent: the process whose unloads a new process takes over, or NULL. */
struct check_task *check_task_get(pid_t tid, struct check_process *parent);
/* The thread is gone; its process too if that was its last thread. */
void check_task_drop(struct check_task *task);
/* execve: the process has one thread again, and none of its old mappings. */
void check_task_exec(struct check_task *task);

/* Lets a stopped task go on with a signal, or stay stopped if its whole process was stopped by a signal. */
void check_task_go(struct check_task *task, int signal);

/* Stops the other threads of the task's process, in a bounded time: threads that do not stop are counted. */
void check_stop_others(struct check_task *task);
void check_go_others(struct check_task *task);

/* Reads memory of a stopped process. Returns how many bytes could be read, from address on. */
size_t check_read(struct check_process *process, uint64_t address, void *to, size_t size);
/* A string; NULL: not readable. The caller frees it. */
char *check_read_text(struct check_process *process, uint64_t address);
/* Reads a string that is a path; returns it without links and dots, as in /proc/PID/maps. */
char *check_read_path(struct check_process *process, uint64_t address);

/* Registers of a stopped task, with the stack from its stack pointer on, up to room bytes of it. NULL: it is gone. */
struct check_snapshot *check_snapshot(struct check_task *task, size_t room);
void check_snapshot_free(struct check_snapshot *snapshot);

/* A mapping of a process. */
struct check_mapping {
	uint64_t start, end;
	bool readable, writable, shared;
	const char *path; /* or [heap] and the like; empty: anonymous. Until each() returns */
};

/* Calls each() for the mappings in order until it returns non-zero; returns that, else 0. */
int check_mappings(pid_t pid, int (*each)(const struct check_mapping *mapping, void *context), void *context);

/* To be called when a message has come: the mappings may have changed since they were read. */
void check_mappings_forget(struct check_process *process);

#endif
