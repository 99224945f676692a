/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/check/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/check/tasks.h"

const char *const check_kind_name[CHECK_KINDS] = {
	[CHECK_THREAD_INSIDE] = "thread-inside",
	[CHECK_SIGNAL_HANDLER] = "signal-handler",
	[CHECK_ATEXIT] = "atexit",
	[CHECK_KEY_DESTRUCTOR] = "key-destructor",
	[CHECK_THREAD_ATEXIT] = "thread-atexit",
	[CHECK_ATFORK] = "atfork",
	[CHECK_POINTER] = "pointer",
	[CHECK_LATE_CALL] = "late-call",
	[CHECK_LATE_ACCESS] = "late-access",
	[CHECK_STAYED] = "stayed",
	[CHECK_GROWTH] = "growth",
};

struct check_finding *check_finding(enum check_kind kind, const struct check_process *process, pid_t tid,
	const char *library, const char *format, ...)
{
	struct check_finding *f = memory_zeroed(1, sizeof(*f));
	va_list args;

	f->kind = kind;
	f->possible = kind == CHECK_POINTER;
	f->severity = f->possible ? CHECK_NOTE : CHECK_ERROR;
	f->library = memory_format("%s", library);
	f->pid = process->pid;
	f->tid = tid;
	memcpy(f->process, process->name, sizeof(f->process));
	va_start(args, format);
	if (vasprintf(&f->text, format, args) < 0)
		f->text = memory_format("%s", format);
	va_end(args);
	f->times = 1;
	return f;
}

void check_finding_detail(struct check_finding *f, char *detail)
{
	f->detail = memory_resize(f->detail, f->details + 1, sizeof(*f->detail));
	f->detail[f->details++] = detail;
}

void check_finding_stack(
	struct check_finding *f, struct check_names *names, struct check_snapshot *snapshot, const char *title)
{
	int i = f->title[0] ? 1 : 0;

	f->title[i] = memory_format("%s thread %d \"%s\"", title, (int)snapshot->tid, snapshot->name);
	check_unwind(names, snapshot, &f->stack[i]);
	check_stack_name(names, &f->stack[i]);
}

void check_finding_closer(
	struct check_finding *f, struct check_names *names, struct check_snapshot *snapshot, const char *title)
{
	int i = f->title[0] ? 1 : 0;

	check_finding_stack(f, names, snapshot, title);
	check_stack_trim(&f->stack[i]);
}

void check_finding_free(struct check_finding *f)
{
	for (int i = 0; i < CHECK_STACKS; i++) {
		check_stack_free(&f->stack[i]);
		free(f->title[i]);
	}
	for (size_t i = 0; i < f->details; i++)
		free(f->detail[i]);
	free(f->detail);
	free(f->library);
	free(f->text);
	free(f->more);
	free(f);
}
