/* SPDX-License-Identifier: MIT */
/*
 * A finding: what is told of a mistake, with the stacks that show it. It is made, filled, and handed to check_found()
 * (report.h).
 */
#ifndef XAUDIT_TOOL_CHECK_FINDING_H
#define XAUDIT_TOOL_CHECK_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tool/check/stack.h"

struct check_process;

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

extern const char *const check_kind_name[CHECK_KINDS];

#endif
