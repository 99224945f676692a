/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/state.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/base/now.h"
#include "tool/base/proc.h"
#include "tool/read/shown_names.h"

/* ---- numbers of processes ---- */

static uint64_t namespace_of(const char *process)
{
	char path[300];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/ns/pid", process);
	return stat(path, &st) ? 0 : st.st_ino;
}

/* The last number of NSpid: that in the process's own namespace. */
static uint32_t own_number(const char *process)
{
	char text[4096], *line, *last;

	proc_read(text, sizeof(text), "/proc/%s/status", process);
	line = strstr(text, "\nNSpid:");
	if (!line)
		return 0;
	line[1 + strcspn(line + 1, "\n")] = '\0';
	last = strrchr(line, '\t');
	return last ? (uint32_t)strtoul(last, NULL, 10) : 0;
}

/* The number that the process has here, or would have; 0: none. It may be of a PID namespace within ours. */
static uint32_t number_here(const struct read_process *process)
{
	uint64_t of = process->head.pid_namespace, here = namespace_of("self");
	uint32_t found = 0;
	struct dirent *entry;

	if (!of || !here || of == here)
		return process->head.pid;
	DIR *folder = opendir("/proc");
	while (folder && !found && (entry = readdir(folder)))
		if (*entry->d_name >= '1' && *entry->d_name <= '9' && namespace_of(entry->d_name) == of &&
			own_number(entry->d_name) == process->head.pid)
			found = (uint32_t)strtoul(entry->d_name, NULL, 10);
	if (folder)
		closedir(folder);
	return found;
}

static bool is_alive(uint32_t pid)
{
	char stat[512];

	if (!pid || (kill((pid_t)pid, 0) < 0 && errno == ESRCH))
		return false;
	proc_read(stat, sizeof(stat), "/proc/%" PRIu32 "/stat", pid);
	char state = *proc_field(stat, PROC_STATE);
	/* A zombie that its parent has not waited for yet writes nothing any more. */
	return state != 'Z' && state != 'X';
}

bool read_process_is_alive(const struct read_process *process)
{
	return is_alive(number_here(process));
}

/* ---- states ---- */

#define SLACK_NS 1000000000ull

/* Did the process that has this number now begin later than the trace of the process that is asked for? */
static bool is_another(const struct read_process *process, uint32_t pid)
{
	char stat[512];

	proc_read(stat, sizeof(stat), "/proc/%" PRIu32 "/stat", pid);
	/*
	 * The start is counted since the boot, with the time that the machine slept; the trace's clock stands still
	 * then.
	 */
	uint64_t slept = tool_now_on(CLOCK_BOOTTIME) - tool_now();
	return proc_began(stat) > process->head.first.mono + slept + SLACK_NS;
}

/* Does it run the program that it ran when its trace began? Yes, if that can't be seen. */
static bool runs_the_same(const struct read_process *process, uint32_t pid)
{
	static const char deleted[] = " (deleted)";
	char path[64], exe[4096];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", pid);
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
			(head->pid_namespace == process->head.pid_namespace || !head->pid_namespace ||
				!process->head.pid_namespace) &&
			head->ppid == process->head.ppid && head->first.mono > process->head.first.mono &&
			!strcmp(head->boot_id, process->head.boot_id))
			return true;
	}
	return false;
}

int read_process_killed(const struct read_process *process)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP };
	const struct read_folder *folder = process->family->folder;
	int signal;

	if (!folder->command_pid || process->head.pid != folder->command_pid ||
		process->head.flags & (TRACE_EXITED | TRACE_LEFT | TRACE_CRASHED) || !folder->status ||
		sscanf(folder->status, "signal %d", &signal) != 1 || has_successor(process))
		return 0;
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		if (crashes[i] == signal)
			return signal;
	return 0;
}

enum read_process_state read_process_state(const struct read_process *process)
{
	if (process->head.flags & TRACE_EXITED)
		return READ_PROCESS_ENDED;
	if (process->head.flags & TRACE_LEFT)
		return READ_PROCESS_LEFT;
	if (has_successor(process))
		return READ_PROCESS_EXECUTED;
	uint32_t pid = read_clock_is_of_this_boot(process->head.boot_id) ? number_here(process) : 0;
	if (!is_alive(pid) || is_another(process, pid))
		return READ_PROCESS_GONE;
	return runs_the_same(process, pid) ? READ_PROCESS_RUNNING : READ_PROCESS_EXECUTED;
}
