/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/process.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/base/search.h"
#include "tool/base/memory.h"
#include "tool/base/now.h"
#include "tool/base/proc.h"
#include "tool/base/tool.h"
#include "tool/base/whole.h"

/* ---- /proc ---- */

/* tid 0: of the process. */
static void read_task(pid_t pid, pid_t tid, const char *name, char *text, size_t size)
{
	if (tid)
		proc_read(text, size, "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	else
		proc_read(text, size, "/proc/%d/%s", (int)pid, name);
}

long ctl_status_number(pid_t pid, pid_t tid, const char *key)
{
	char text[4096], wanted[40], *p;

	snprintf(wanted, sizeof(wanted), "\n%s:", key);
	read_task(pid, tid, "status", text, sizeof(text));
	p = strstr(text, wanted);
	return p ? strtol(p + strlen(wanted), NULL, 10) : -1;
}

char ctl_state(pid_t pid, pid_t tid)
{
	char text[1024];

	read_task(pid, tid, "stat", text, sizeof(text));
	return *proc_field(text, PROC_STATE);
}

uint64_t ctl_begin(pid_t pid)
{
	char text[1024];

	proc_read(text, sizeof(text), "/proc/%d/stat", (int)pid);
	return proc_began(text);
}

bool ctl_is_kernels(pid_t pid)
{
	enum { KTHREAD = 0x200000 }; /* PF_KTHREAD */
	char text[1024];

	proc_read(text, sizeof(text), "/proc/%d/stat", (int)pid);
	return strtoul(proc_field(text, PROC_FLAGS), NULL, 10) & KTHREAD;
}

static bool ends_unsaid, ended;

void ctl_may_end(bool may_end)
{
	ends_unsaid = may_end;
	ended = false;
}

bool ctl_ended(void)
{
	return ended;
}

/* Is nothing to be said of it? */
static bool is_unsaid(void)
{
	ended |= ends_unsaid;
	return ends_unsaid;
}

void ctl_say_ended(pid_t pid)
{
	if (!is_unsaid())
		tool_error("ctl", "process %d ended meanwhile", (int)pid);
}

void ctl_say_gone(pid_t pid)
{
	if (!is_unsaid())
		tool_error("ctl", "there is no process %d", (int)pid);
}

void ctl_explain(pid_t pid, pid_t tid, int error)
{
	char text[64], name[16];
	char state = ctl_state(pid, tid);
	long tracer = ctl_status_number(pid, tid, "TracerPid"), uid = ctl_status_number(pid, 0, "Uid");
	int scope = proc_read(text, sizeof(text), "/proc/sys/kernel/yama/ptrace_scope") > 0 ? atoi(text) : 0;

	if ((!state || error == ESRCH || state == 'Z' || state == 'X') && is_unsaid())
		return;
	if (!state || error == ESRCH) {
		tool_error("ctl", "process %d ended meanwhile", (int)pid);
	} else if (state == 'Z' || state == 'X') {
		tool_error("ctl", "process %d has ended already; its parent has not asked for its status (zombie)",
			(int)pid);
	} else if (tracer > 0) {
		proc_name((pid_t)tracer, name);
		tool_error("ctl", "process %d is traced already, by %s (%ld): end that first", (int)pid, name, tracer);
	} else if (geteuid() && uid >= 0 && (uid_t)uid != geteuid()) {
		const struct passwd *user = getpwuid((uid_t)uid);
		tool_error("ctl", "process %d belongs to %s%s%s: run this as that user, or as root", (int)pid,
			user ? "user " : "another user", user ? user->pw_name : "", user ? "" : "");
	} else if (geteuid() && scope == 1) {
		tool_error("ctl",
			"process %d has not agreed (kernel.yama.ptrace_scope is 1): start it by `xaudit record` or "
			"with `[trace] control = any`, or run "
			"this as root",
			(int)pid);
	} else if (scope == 2 && geteuid()) {
		tool_error("ctl", "process %d: only root may look into processes here (kernel.yama.ptrace_scope is 2)",
			(int)pid);
	} else if (scope == 3) {
		tool_error("ctl", "process %d: nobody may look into processes here (kernel.yama.ptrace_scope is 3)",
			(int)pid);
	} else {
		tool_error("ctl",
			"process %d can't be looked into: %s (it changed its user, or a sandbox is around it or us)",
			(int)pid, strerror(error));
	}
}

/* ---- mappings ---- */

#define MOST_PATHS (64u << 20)

void ctl_maps_free(struct ctl_process *process)
{
	for (size_t i = 0; i < process->mappings; i++)
		free(process->mapping[i].path);
	free(process->mapping);
	process->mapping = NULL;
	process->mappings = 0;
	process->path_bytes = 0;
}

bool ctl_maps(struct ctl_process *process)
{
	char path[64], *line = NULL;
	size_t room = 0, have = 0;
	FILE *file;

	ctl_maps_free(process);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)process->pid);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		struct ctl_mapping m = { 0 };
		char flags[8];
		int at = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %n", &m.start, &m.end, flags, &at) < 3 || !at)
			continue;
		line[strcspn(line, "\n")] = '\0';
		/* Each may be 4 kB long, and there may be many. */
		process->path_bytes += strlen(line + at);
		m.path = memory_text(line + at, process->path_bytes < MOST_PATHS ? strlen(line + at) : 0);
		m.readable = flags[0] == 'r';
		m.writable = flags[1] == 'w';
		m.executable = flags[2] == 'x';
		if (process->mappings == have) {
			have = have ? 2 * have : 256;
			process->mapping = memory_resize(process->mapping, have, sizeof(*process->mapping));
		}
		process->mapping[process->mappings++] = m;
	}
	free(line);
	if (file)
		fclose(file);
	return process->mappings > 0;
}

const struct ctl_mapping *ctl_mapping(const struct ctl_process *process, uint64_t address)
{
	size_t low = SEARCH(i, 0, process->mappings, process->mapping[i].end <= address);

	return low < process->mappings && process->mapping[low].start <= address ? &process->mapping[low] : NULL;
}

/* ---- memory ---- */

/* The process's own data says how much there is to read. Real ones need a hundredth of this. */
#define MOST_READS (8u << 20)
#define MOST_BYTES (4ull << 30)
#define MOST_TIME  20000000000ull /* ns */

static struct {
	uint64_t reads, bytes, begin;
} spent;

void ctl_limit_begin(void)
{
	spent.reads = spent.bytes = 0;
	spent.begin = tool_now();
}

bool ctl_limit_reached(void)
{
	return spent.reads > MOST_READS || spent.bytes > MOST_BYTES || tool_now() - spent.begin > MOST_TIME;
}

bool ctl_read(const struct ctl_process *process, uint64_t address, void *to, size_t size)
{
	spent.reads++;
	spent.bytes += size;
	if (ctl_limit_reached())
		return false;
	return whole_read(process->memory, to, size, address);
}

bool ctl_write(const struct ctl_process *process, uint64_t address, const void *from, size_t size)
{
	struct iovec here = { (void *)(uintptr_t)from, size }, there = { (void *)(uintptr_t)address, size };

	if (!process->writable)
		return process_vm_writev(process->pid, &here, 1, &there, 1, 0) == (ssize_t)size;
	return !whole_write(process->memory, from, size, address);
}

char *ctl_text_up_to(const struct ctl_process *process, uint64_t address, size_t most)
{
	char *text = memory_zeroed(most, 1);
	size_t have = 0;

	/* Up to the end of a page at a time: what follows may not be there. */
	while (have < most) {
		size_t step = 4096 - ((address + have) & 4095);
		if (step > most - have)
			step = most - have;
		if (!ctl_read(process, address + have, text + have, step))
			break;
		if (memchr(text + have, '\0', step))
			return text;
		have += step;
	}
	free(text);
	return NULL;
}

char *ctl_text(const struct ctl_process *process, uint64_t address)
{
	return ctl_text_up_to(process, address, 4096);
}

char *ctl_why(const struct ctl_process *process)
{
	char *why = ctl_text(process, (uint64_t)(uintptr_t)process->block.why);

	if (!why || *why)
		return why;
	free(why);
	return NULL;
}

char *ctl_folder(const struct ctl_process *process, uint32_t *place)
{
	char *path, *meta, *rooted;
	uint64_t head = 0;
	struct stat s;

	/* A child that was forked a moment ago has no head, but it has the path. */
	if (!ctl_read(process, (uint64_t)(uintptr_t)process->block.head, &head, sizeof(head)) || !head ||
		!ctl_read(process, head + offsetof(struct trace_head, process), place, sizeof(*place)))
		return NULL;
	path = ctl_text(process, (uint64_t)(uintptr_t)process->block.folder);
	if (!path || *path != '/') {
		free(path);
		return NULL;
	}
	meta = memory_format("%s/meta", path);
	/* It may have another root, or another view of the file systems. */
	rooted = memory_format("/proc/%d/root%s", (int)process->pid, path);
	if (stat(meta, &s) == 0) {
		free(rooted);
		rooted = NULL;
	} else {
		free(path);
		path = rooted;
	}
	free(meta);
	return path;
}
