/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/check/tracer.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h> /* strtol */
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "tool/base/proc.h"
#include "tool/base/tool.h"
#include "tool/check/judge.h"
#include "tool/check/late.h"
#include "tool/check/state.h"
#include "tool/check/stayed.h"
#include "tool/check/tasks.h"
#include "x86_64/remote.h"

#define FOLLOW (PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC)

int check_tracer_begin(pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, 0, (long)FOLLOW) < 0) {
		tool_error("check", "the command can't be traced: %s; is ptrace allowed here?", strerror(errno));
		return -1;
	}
	check_task_get(pid, NULL);
	return 0;
}

/* Is this SIGTRAP the module's? Then reads its message. */
static bool read_message(struct check_task *task, struct check_message *message)
{
	struct user_regs_struct r;
	uint64_t instruction, at;
	uint8_t byte;

	if (ptrace(PTRACE_GETREGS, task->tid, 0, &r) < 0 || !remote_told(&r, CHECK_MAGIC, &instruction, &at))
		return false;
	if (check_read(task->process, instruction, &byte, 1) != 1 || byte != REMOTE_TELL)
		return false;
	return check_read(task->process, at, message, sizeof(*message)) == sizeof(*message) &&
	       message->size == sizeof(*message);
}

static void on_message(struct check_task *task, const struct check_message *message)
{
	struct check_process *process = task->process;

	check_mappings_forget(process);
	switch (message->event) {
	case CHECK_STARTED:
		process->started = true;
		check_counts.processes++;
		check_counts.blind += (message->flags & CHECK_BLIND) != 0;
		check_counts.listless += !message->thread_list;
		process->thread_list = message->thread_list;
		break;
	case CHECK_CLOSING:
	case CHECK_UNLOADED:
		check_judge(task, message);
		break;
	case CHECK_KEPT:
		check_stayed(task, message);
		break;
	case CHECK_CONFINED:
		check_counts.confined += !process->confined;
		process->confined = true;
		break;
	}
	process->last_event = message->event;
}

/* A signal is about to be delivered. Returns the signal to deliver. */
static int on_signal(struct check_task *task, int signal)
{
	struct check_message message;
	siginfo_t info;

	if (signal == SIGTRAP && read_message(task, &message)) {
		on_message(task, &message);
		return 0;
	}
	/* Faults that the kernel found itself have a positive code. */
	if ((signal == SIGSEGV || signal == SIGBUS) && ptrace(PTRACE_GETSIGINFO, task->tid, 0, &info) == 0 &&
		info.si_code > 0) {
		check_mappings_forget(task->process);
		check_late(task, (uint64_t)(uintptr_t)info.si_addr);
	}
	return signal;
}

static void on_stop(struct check_task *task)
{
	int event = task->status >> 16, signal = 0;
	unsigned long child = 0;

	switch (event) {
	case 0:
		signal = on_signal(task, WSTOPSIG(task->status));
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		if (ptrace(PTRACE_GETEVENTMSG, task->tid, 0, &child) == 0 && child)
			check_task_get((pid_t)child, task->process);
		break;
	case PTRACE_EVENT_EXEC:
		check_task_exec(task);
		break;
	}
	check_task_go(task, signal);
}

/*
 * A child that reports before its parent's event was seen has no parent yet: it is found by the parent's pid. That is
 * done for a process alone: of a thread the process is known.
 */
static struct check_process *parent_of(pid_t pid)
{
	char text[512];

	proc_read(text, sizeof(text), "/proc/%d/stat", (int)pid);
	pid_t parent = (pid_t)strtol(proc_field(text, PROC_PARENT), NULL, 10);
	for (struct check_process *process = check_processes; process; process = process->next)
		if (process->pid == parent)
			return process;
	return NULL;
}

static struct check_task *next_event(void)
{
	struct check_task *task;
	int status;
	pid_t pid;

	for (task = check_tasks; task; task = task->next)
		if (task->waiting) {
			task->waiting = false;
			return task;
		}
	do
		pid = waitpid(-1, &status, __WALL);
	while (pid < 0 && errno == EINTR);
	if (pid < 0)
		return NULL;
	task = check_task_find(pid);
	if (!task)
		task = check_task_get(pid, parent_of(pid));
	task->status = status;
	task->stopped = WIFSTOPPED(status);
	return task;
}

/*
 * The command has ended; processes that it left running go on without us. Their modules see that there is no tracer any
 * more.
 */
static void let_go(void)
{
	while (check_tasks) {
		struct check_process *process = check_tasks->process;
		struct check_task all = {.process = process};

		check_stop_others(&all);
		for (struct check_task *t = check_tasks, *next; t; t = next) {
			struct check_message message;

			next = t->next;
			if (t->process != process)
				continue;
			if (t->stopped) {
				int signal = t->status >> 16 ? 0 : WSTOPSIG(t->status);

				if (signal == SIGTRAP && read_message(t, &message))
					signal = 0;
				ptrace(PTRACE_DETACH, t->tid, 0, (long)signal);
			}
			check_task_drop(t);
		}
	}
}

void check_tracer_wait(pid_t pid, int *status)
{
	struct check_task *task;

	*status = 0;
	while ((task = next_event())) {
		if (WIFSTOPPED(task->status)) {
			on_stop(task);
			continue;
		}
		if (!WIFEXITED(task->status) && !WIFSIGNALED(task->status))
			continue;
		bool ours = task->tid == pid;
		if (ours)
			*status = task->status;
		check_task_drop(task);
		if (ours)
			break;
	}
	let_go();
}
