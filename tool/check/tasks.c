/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/check/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/now.h"
#include "tool/base/proc.h"
#include "tool/base/whole.h"
#include "tool/check/state.h"

struct check_task *check_tasks;
struct check_process *check_processes;

static const struct check_judges *judges;

void check_judges_set(const struct check_judges *them)
{
	judges = them;
}

/* ---- what /proc says ---- */

static pid_t read_group(pid_t tid)
{
	char text[2048], *p;

	proc_read(text, sizeof(text), "/proc/%d/status", (int)tid);
	p = strstr(text, "\nTgid:");
	return p ? (pid_t)strtol(p + 6, NULL, 10) : tid;
}

/* 'R', 'S', 'D', 'Z' ...; 0: gone. */
static char read_state(pid_t tid)
{
	char text[512];

	proc_read(text, sizeof(text), "/proc/%d/stat", (int)tid);
	return *proc_field(text, PROC_STATE);
}

/* ---- tasks and processes ---- */

struct check_task *check_task_find(pid_t tid)
{
	struct check_task *task;

	for (task = check_tasks; task; task = task->next)
		if (task->tid == tid)
			break;
	return task;
}

static struct check_process *get_process(pid_t pid, const struct check_process *parent)
{
	struct check_process *p;

	for (p = check_processes; p; p = p->next)
		if (p->pid == pid)
			return p;
	p = memory_zeroed(1, sizeof(*p));
	p->pid = pid;
	p->memory = -1;
	proc_name(pid, p->name);
	if (parent) {
		judges->inherited(p, parent);
		p->stack_end = parent->stack_end;
		p->started = parent->started;
		p->executed = parent->executed;
		p->thread_list = parent->thread_list;
		p->unloads = parent->unloads;
		p->unload = memory_resize(NULL, p->unloads + 1, sizeof(*p->unload));
		for (size_t i = 0; i < p->unloads; i++) {
			p->unload[i] = parent->unload[i];
			p->unload[i]->users++;
		}
	}
	p->next = check_processes;
	check_processes = p;
	return p;
}

void check_unload_release(struct check_unload *unload)
{
	if (--unload->users)
		return;
	check_snapshot_free(unload->by);
	free(unload->path);
	free(unload);
}

/* The process's mappings are gone, or the process itself. */
static void drop_unloads(struct check_process *process)
{
	judges->gone(process);
	for (size_t i = 0; i < process->unloads; i++)
		check_unload_release(process->unload[i]);
	process->unloads = 0;
	if (process->memory >= 0)
		close(process->memory);
	process->memory = -1;
	process->stack_end = 0;
	process->ranges = 0;
}

static void drop_process(struct check_process *process)
{
	struct check_process **link = &check_processes;

	drop_unloads(process);
	check_counts.unchecked += process->executed && !process->started;
	while (*link != process)
		link = &(*link)->next;
	*link = process->next;
	free(process->range);
	free(process->unload);
	free(process);
}

struct check_task *check_task_get(pid_t tid, struct check_process *parent)
{
	struct check_task *task = check_task_find(tid);

	if (task)
		return task;
	task = memory_zeroed(1, sizeof(*task));
	task->tid = tid;
	task->process = get_process(read_group(tid), parent);
	task->next = check_tasks;
	check_tasks = task;
	return task;
}

void check_task_drop(struct check_task *task)
{
	struct check_task **link = &check_tasks;
	struct check_process *process = task->process;

	while (*link != task)
		link = &(*link)->next;
	*link = task->next;
	free(task);
	for (task = check_tasks; task; task = task->next)
		if (task->process == process)
			return;
	drop_process(process);
}

void check_task_exec(struct check_task *task)
{
	struct check_process *process = task->process;

	for (struct check_task *t = check_tasks, *next; t; t = next) {
		next = t->next;
		if (t->process == process && t != task)
			check_task_drop(t);
	}
	drop_unloads(process);
	process->started = false;
	process->executed = true;
	proc_name(process->pid, process->name);
}

/* ---- stopping ---- */

static bool is_group_stop(int status)
{
	int signal = WSTOPSIG(status);

	return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP &&
	       (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU);
}

void check_task_go(struct check_task *task, int signal)
{
	task->stopped = false;
	if (is_group_stop(task->status))
		ptrace(PTRACE_LISTEN, task->tid, 0, 0);
	else
		ptrace(PTRACE_CONT, task->tid, 0, (long)signal);
}

static void nap(void)
{
	struct timespec t = {.tv_nsec = 100000};

	nanosleep(&t, NULL);
}

#define MS 1000000ull

/*
 * Waits until the task has stopped for whatever reason. A thread that waits for the child of its vfork, or that is dead
 * while others live, never does.
 */
static void await_stop(struct check_task *task)
{
	uint64_t begin = tool_now();

	for (int round = 0;; round++) {
		int status;
		pid_t r = waitpid(task->tid, &status, __WALL | WNOHANG);
		uint64_t passed = tool_now() - begin;

		if (r == task->tid) {
			task->status = status;
			task->stopped = WIFSTOPPED(status);
			/* An end, a signal or an event: the loop of tool/check/tracer.c deals with it later. */
			task->waiting = !WIFSTOPPED(status) || status >> 16 != PTRACE_EVENT_STOP;
			return;
		}
		if (r < 0 && errno != EINTR)
			return;
		if (passed > 2 * MS) {
			char state = read_state(task->tid);

			if (state == 'Z' || state == 'X' || !state)
				return;
			if (passed > 2000 * MS || (state == 'D' && passed > 100 * MS)) {
				check_counts.unstopped++;
				return;
			}
			nap();
		} else if (round > 20) {
			nap();
		}
	}
}

/* Finds threads that the kernel knows and we don't yet: a thread was making them when it was stopped. */
static bool find_new(struct check_process *process, struct check_task *by)
{
	bool found = false;
	char path[64], name[32];

	for (struct check_task *t = check_tasks; t; t = t->next) {
		unsigned long child = 0;

		if (t->process != process || t == by || !t->stopped || t->status >> 16 != PTRACE_EVENT_CLONE)
			continue;
		if (ptrace(PTRACE_GETEVENTMSG, t->tid, 0, &child) < 0 || !child || check_task_find((pid_t)child))
			continue;
		snprintf(name, sizeof(name), "task/%lu", child);
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)process->pid, name);
		if (access(path, F_OK) < 0)
			continue;
		check_task_get((pid_t)child, process);
		found = true;
	}
	return found;
}

void check_stop_others(struct check_task *task)
{
	struct check_process *process = task->process;

	do {
		for (struct check_task *t = check_tasks; t; t = t->next)
			if (t->process == process && t != task && !t->stopped && !t->waiting)
				ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
		for (struct check_task *t = check_tasks; t; t = t->next)
			if (t->process == process && t != task && !t->stopped && !t->waiting)
				await_stop(t);
	} while (find_new(process, task));
}

void check_go_others(struct check_task *task)
{
	for (struct check_task *t = check_tasks; t; t = t->next)
		if (t->process == task->process && t != task && t->stopped && !t->waiting)
			check_task_go(t, 0);
}

/* ---- memory ---- */

size_t check_read(struct check_process *process, uint64_t address, void *to, size_t size)
{
	char path[64];
	int error;

	if (process->memory < 0) {
		snprintf(path, sizeof(path), "/proc/%d/mem", (int)process->pid);
		process->memory = open(path, O_RDONLY | O_CLOEXEC);
	}
	return process->memory < 0 ? 0 : whole_read_most(process->memory, to, size, address, &error);
}

char *check_read_text(struct check_process *process, uint64_t address)
{
	char text[4096];
	size_t n = check_read(process, address, text, sizeof(text));
	size_t length = strnlen(text, n);

	return length < n ? memory_text(text, length) : NULL;
}

char *check_read_path(struct check_process *process, uint64_t address)
{
	char *path = check_read_text(process, address), *real = path ? realpath(path, NULL) : NULL;

	if (!real)
		return path;
	free(path);
	return real;
}

int check_mappings(pid_t pid, int (*each)(const struct check_mapping *mapping, void *context), void *context)
{
	char path[64], *line = NULL;
	size_t room = 0;
	int result = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	while (file && !result && getline(&line, &room, file) > 0) {
		struct check_mapping m = {0};
		char *p = line;

		/* START-END FLAGS OFFSET DEVICE INODE PATH, as sscanf() would, in a tenth of the time */
		line[strcspn(line, "\n")] = '\0';
		m.start = strtoull(p, &p, 16);
		if (*p != '-')
			continue;
		m.end = strtoull(p + 1, &p, 16);
		if (strnlen(p, 5) < 5)
			continue;
		m.readable = p[1] == 'r';
		m.writable = p[2] == 'w';
		m.shared = p[4] == 's';
		for (int word = 0; word < 4; word++) {
			p += strspn(p, " ");
			p += strcspn(p, " ");
		}
		m.path = p + strspn(p, " ");
		result = each(&m, context);
	}
	free(line);
	if (file)
		fclose(file);
	return result;
}

/* ---- where a stack ends ---- */

/*
 * The first thread's stack never changes its end, so the mappings, whose reading costs more than all else, are read
 * once for it. Another stack that is as near ends before the hole below the first thread's stack: reading stops there.
 */
#define STACK_NEAR (16ull << 20)

static int take_range(const struct check_mapping *m, void *context)
{
	struct check_process *process = context;

	if (process->ranges == process->ranges_room) {
		process->ranges_room = process->ranges_room ? 2 * process->ranges_room : 64;
		process->range = memory_resize(process->range, process->ranges_room, 2 * sizeof(*process->range));
	}
	process->range[2 * process->ranges] = m->start;
	process->range[2 * process->ranges + 1] = m->end;
	process->ranges++;
	if (!strcmp(m->path, "[stack]"))
		process->stack_end = m->end;
	return 0;
}

void check_mappings_forget(struct check_process *process)
{
	process->ranges = 0;
}

/* The end of the mapping that sp is in; 0: none. */
static uint64_t stack_end(struct check_task *task, uint64_t sp)
{
	struct check_process *process = task->process;
	size_t low = 0, high;

	if (task->tid == process->pid && sp < process->stack_end && process->stack_end - sp < STACK_NEAR)
		return process->stack_end;
	if (!process->ranges)
		check_mappings(process->pid, take_range, process);
	/* The first mapping that ends after sp. */
	for (high = process->ranges; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (process->range[2 * middle + 1] > sp)
			high = middle;
		else
			low = middle + 1;
	}
	return low < process->ranges && process->range[2 * low] <= sp ? process->range[2 * low + 1] : 0;
}

struct check_snapshot *check_snapshot(struct check_task *task, size_t room)
{
	struct user_regs_struct r;
	struct check_snapshot *s;

	if (ptrace(PTRACE_GETREGS, task->tid, 0, &r) < 0)
		return NULL;
	s = memory_zeroed(1, sizeof(*s));
	s->tid = task->tid;
	proc_name(task->tid, s->name);
	remote_dwarf(&r, s->regs);
	s->thread = remote_thread(&r);
	if (room) {
		uint64_t sp = remote_sp(&r), end = stack_end(task, sp);

		/* Below sp, the red zone belongs to the frame. */
		s->start = (sp - REMOTE_RED_ZONE) & ~7ull;
		if (end) {
			size_t size = end - s->start < room ? end - s->start : room;

			s->stack = memory_resize(NULL, size, 1);
			s->size = check_read(task->process, s->start, s->stack, size);
			s->stack = memory_resize(s->stack, s->size ? s->size : 1, 1);
		}
	}
	return s;
}

void check_snapshot_free(struct check_snapshot *snapshot)
{
	if (snapshot)
		free(snapshot->stack);
	free(snapshot);
}
