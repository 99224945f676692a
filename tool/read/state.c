/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/state.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/now.h"
#include "tool/proc.h"

bool read_process_is_alive(uint32_t pid)
{
	char stat[512];

	if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		return false;
	proc_read(stat, sizeof(stat), "/proc/%" PRIu32 "/stat", pid);
	char state = *proc_field(stat, PROC_STATE);
	/* A zombie that its parent has not waited for yet writes nothing any more. */
	return state != 'Z' && state != 'X';
}

#define SLACK_NS 1000000000ull

/* Did the process that has this number now begin later than the trace of the process that is asked for? */
static bool is_another(const struct read_process *process)
{
	char stat[512];

	proc_read(stat, sizeof(stat), "/proc/%" PRIu32 "/stat", process->head.pid);
	/*
	 * The start is counted since the boot, with the time that the machine slept; the trace's clock stands still
	 * then.
	 */
	uint64_t slept = tool_now_on(CLOCK_BOOTTIME) - tool_now();
	return proc_began(stat) > process->head.first.mono + slept + SLACK_NS;
}

/* Does it run the program that it ran when its trace began? Yes, if that can't be seen. */
static bool runs_the_same(const struct read_process *process)
{
	static const char deleted[] = " (deleted)";
	char path[64], exe[4096];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", process->head.pid);
	ssize_t n = readlink(path, exe, sizeof(exe) - 1);
	if (n <= 0 || !process->exe)
		return true;
	exe[n] = '\0';
	size_t length = sizeof(deleted) - 1;
	if ((size_t)n > length && !strcmp(exe + n - length, deleted))
		exe[(size_t)n - length] = '\0';
	/* ld.so was told to run the program: that is what the kernel executed. */
	return !strcmp(exe, process->exe) || !strncmp(read_path_base(exe), "ld-linux", 8);
}

/*
 * Finds the executed program as another process of the trace. A number that was given to a new process has another
 * parent as a rule.
 */
static bool has_successor(const struct read_process *process)
{
	const struct read_folder *folder = process->family->folder;

	for (unsigned i = 0; i < folder->processes; i++) {
		const struct trace_head *head = &folder->process[i]->head;
		if (folder->process[i] != process && head->pid == process->head.pid &&
			head->ppid == process->head.ppid && head->first.mono > process->head.first.mono &&
			!strcmp(head->boot_id, process->head.boot_id))
			return true;
	}
	return false;
}

enum read_process_state read_process_state(const struct read_process *process)
{
	if (process->head.flags & TRACE_EXITED)
		return READ_PROCESS_ENDED;
	if (process->head.flags & TRACE_LEFT)
		return READ_PROCESS_LEFT;
	if (has_successor(process))
		return READ_PROCESS_EXECUTED;
	if (!read_clock_is_of_this_boot(process->head.boot_id) || !read_process_is_alive(process->head.pid) ||
		is_another(process))
		return READ_PROCESS_GONE;
	return runs_the_same(process) ? READ_PROCESS_RUNNING : READ_PROCESS_EXECUTED;
}
