/* SPDX-License-Identifier: MIT */
/*
 * The parts of `xaudit check`, which has one thread. The command is the ptrace tracer of the program and of all that it
 * starts; the module in each process speaks to it by the protocol of audit/check/check.h, and what else the command
 * needs to know, it reads out of the stopped process.
 *
 * The files, in an order in which none needs a later one (t/whole/tool-order.t): state.c the options, and numbers;
 * stop.c threads and memory of a process; stack.c stacks and names; suppress.c findings that shall not be told;
 * report.c findings, in the forms of text.c and json.c; growth.c memory per cycle; kept.c libraries that stay; late.c
 * faults in unloaded libraries; scan.c the search for pointers into an unloaded library, in libc's lists (libc.c) and
 * in the memory (memory.c); judge.c all that an unload leaves undone; trace.c the events of ptrace; check.c options and
 * result.
 */
#ifndef XAUDIT_TOOL_CHECK_CHECK_H
#define XAUDIT_TOOL_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "audit/check/check.h"
#include "x86_64/remote.h"

struct check_options {
	bool scan, cycles, generate;
	int json, no_defaults;
	int error_status;
	const char *output; /* NULL: standard error */
	const char **suppressions;
	size_t suppression_count;
	char **command;
};

extern struct check_options check_options;

/* ---- threads and processes (tool/check/stop.c) ---- */

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

/* ---- ptrace (tool/check/trace.c) ---- */

int check_trace_begin(pid_t pid);
void check_trace_wait(pid_t pid, int *status);

/* ---- judging: the task of each function must be stopped ---- */

void check_judge(struct check_task *task, const struct check_message *message); /* tool/check/judge.c */
void check_kept(struct check_task *task, const struct check_message *message);	/* tool/check/kept.c */
/* A library that another one needed was unmapped after all; or the process has ended. */
void check_kept_gone(const struct check_process *process, uint64_t load);
void check_kept_end(const struct check_process *process);
/* A fault at an address: is it a late call of, or access to, an unloaded library? tool/check/late.c */
void check_late(struct check_task *task, uint64_t address);
/* tool/check/libc.c: forgets what is known of a process's libc; copies it from the parent. */
void check_libc_drop(struct check_process *process);
void check_libc_inherit(struct check_process *process, const struct check_process *parent);
/* tool/check/growth.c: one cycle has ended; the process ends. */
void check_growth_sample(struct check_process *process, const struct check_unload *unload);
void check_growth_judge(struct check_process *process);

/* ---- stacks and names (tool/check/stack.c) ---- */

struct check_frame {
	uint64_t address, sp;
	bool exact;	 /* see check_name() */
	char *function;	 /* NULL: unknown */
	uint64_t offset; /* in it; without a function, in the object: an address of its file */
	char *file;	 /* source; NULL: unknown */
	int line;
	char *object; /* path; NULL: none */
};

struct check_stack {
	struct check_frame *frame;
	size_t count;
};

struct check_names;

/*
 * Names in a process as it is now, and in libraries that it unloaded: hit (may be NULL) and the last few. Never NULL.
 */
struct check_names *check_names_begin(struct check_process *process, const struct check_unload *hit);
void check_names_end(struct check_names *names);

/* The stack of a snapshot, as far as it can be unwound: addresses alone. Then adds the names, once. */
void check_unwind(struct check_names *names, struct check_snapshot *snapshot, struct check_stack *stack);
void check_stack_name(struct check_names *names, struct check_stack *stack);

/* Names what lies at an address. exact: the address of an instruction that is executed, not a return address. */
void check_name(struct check_names *names, uint64_t address, bool exact, struct check_frame *frame);
/* Names data of the object that is loaded at `load`: its zeroed data is no mapping of the file. */
void check_name_data(struct check_names *names, uint64_t load, uint64_t address, struct check_frame *frame);

/* The first frame that is not in the loader, libc or the module: the code that asked for the unload. NULL: none. */
const struct check_frame *check_stack_culprit(const struct check_stack *stack);

/* Drops the frames before the one that check_stack_culprit() returns. */
void check_stack_trim(struct check_stack *stack);

void check_stack_free(struct check_stack *stack);
void check_frame_free(struct check_frame *frame);

/* ---- findings (tool/check/report.c) ---- */

enum check_kind {
	CHECK_THREAD_INSIDE,
	CHECK_SIGNAL_HANDLER,
	CHECK_ATEXIT,
	CHECK_KEY_DESTRUCTOR,
	CHECK_THREAD_ATEXIT,
	CHECK_ATFORK,
	CHECK_POINTER,
	CHECK_LATE_CALL,
	CHECK_LATE_ACCESS,
	CHECK_STAYED,
	CHECK_GROWTH,
	CHECK_KINDS
};

/* Only errors change the exit status. */
enum check_severity {
	CHECK_ERROR,
	CHECK_NOTE, /* intended by its author, or only possible */
};

#define CHECK_STACKS 2

struct check_finding {
	struct check_finding *next;
	enum check_kind kind;
	enum check_severity severity; /* CHECK_ERROR, unless the code that makes it changes that */
	bool possible;		      /* only possible: then it is a note, too */
	char *library;
	char *text; /* a sentence that is the same for the same mistake; findings are told apart by it and by their
		       stacks' functions */
	char *more; /* what is special to this one time, or NULL */
	pid_t pid, tid;
	char process[16];
	char *title[CHECK_STACKS];
	struct check_stack stack[CHECK_STACKS];
	char **detail;
	size_t details;
	unsigned times;
};

/* text: a format and arguments as of printf. */
struct check_finding *check_finding(enum check_kind kind, const struct check_process *process, pid_t tid,
	const char *library, const char *format, ...) __attribute__((format(printf, 5, 6)));
void check_finding_detail(struct check_finding *finding, char *detail); /* takes it */
void check_finding_stack(
	struct check_finding *finding, struct check_names *names, struct check_snapshot *snapshot, const char *title);
/* Adds the stack of the thread that unloads, without the frames from dlclose to the module. */
void check_finding_closer(
	struct check_finding *finding, struct check_names *names, struct check_snapshot *snapshot, const char *title);
void check_finding_free(struct check_finding *finding);
/* Reports the finding, or counts it if it was reported before. Takes it. */
void check_found(struct check_finding *finding);

/* Numbers for the end. */
struct check_counts {
	unsigned unloads, processes;
	unsigned unstopped; /* threads that did not stop in time */
	unsigned missed, blind, listless, unreserved, confined, unchecked;
	unsigned suppressed;   /* times */
	unsigned unsuppressed; /* the file of default suppressions is missing */
};
extern struct check_counts check_counts;

/* How many findings there are. */
struct check_sums {
	unsigned errors, others, possible;
};

/* A form of the report. */
struct check_form {
	void (*finding)(FILE *to, const struct check_finding *finding); /* when it is found; NULL: all at the end */
	/* At the end. note: sentences about what was not looked at. The findings are in check_findings. */
	void (*end)(FILE *to, const char **note, size_t notes, const struct check_sums *sums);
};
extern const struct check_form check_text, check_json; /* tool/check/text.c, json.c */

/* Opens the file, or stream, that the report goes to. 0, or -1 after one line on stderr. */
int check_report_open(const struct check_form *form);
/* Writes the rest of the report. Returns the number of errors, or -1, after one line, if it could not be written. */
int check_report_close(void);

extern const char *const check_kind_name[CHECK_KINDS];
extern struct check_finding *check_findings;

/* ---- tool/check/suppress.c ---- */

/* Adds the suppressions of a file; of xaudit's own file. 0, or -1 after one line on stderr. */
int check_suppress_read(const char *path);
int check_suppress_read_default(void);

/* Shall the finding not be told? If so, counts it for its suppression. */
bool check_suppressed(const struct check_finding *finding);

/* Writes a suppression of that finding, which users can copy. */
void check_suppress_put(FILE *to, const struct check_finding *finding);

/* Writes "suppressions":[...], those that were used. */
void check_suppress_json(FILE *to);

/* The last part of a path. */
const char *check_base(const char *path);

#endif
