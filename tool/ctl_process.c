/* SPDX-License-Identifier: MIT */
/* The process, and the module in it. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "config.h"
#include "tool/ctl.h"
#include "tool/memory.h"
#include "tool/tool.h"

/* ---- /proc ---- */

static size_t read_proc(pid_t pid, pid_t tid, const char *name, char *text, size_t size)
{
	char path[96];

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

long ctl_status_number(pid_t pid, pid_t tid, const char *key)
{
	char text[4096], wanted[40], *p;

	snprintf(wanted, sizeof(wanted), "\n%s:", key);
	read_proc(pid, tid, "status", text, sizeof(text));
	p = strstr(text, wanted);
	return p ? strtol(p + strlen(wanted), NULL, 10) : -1;
}

char ctl_state(pid_t pid, pid_t tid)
{
	char text[1024], *p;

	read_proc(pid, tid, "stat", text, sizeof(text));
	p = strrchr(text, ')');
	return p && p[1] == ' ' ? p[2] : 0;
}

void ctl_name(pid_t pid, char name[16])
{
	char text[64];

	read_proc(pid, 0, "comm", text, sizeof(text));
	text[strcspn(text, "\n")] = '\0';
	snprintf(name, 16, "%.15s", text);
}

void ctl_explain(pid_t pid, pid_t tid, int error)
{
	char text[64], name[16];
	char state = ctl_state(pid, tid);
	long tracer = ctl_status_number(pid, tid, "TracerPid"), uid = ctl_status_number(pid, 0, "Uid");
	int scope = read_proc(1, 0, "../sys/kernel/yama/ptrace_scope", text, sizeof(text)) ? atoi(text) : 0;

	if (!state || error == ESRCH) {
		tool_error("ctl", "process %d ended meanwhile", (int)pid);
	} else if (state == 'Z' || state == 'X') {
		tool_error("ctl", "process %d has ended already; its parent has not asked for its status (zombie)", (int)pid);
	} else if (tracer > 0) {
		ctl_name((pid_t)tracer, name);
		tool_error("ctl", "process %d is traced already, by %s (%ld): end that first", (int)pid, name, tracer);
	} else if (geteuid() && uid >= 0 && (uid_t)uid != geteuid()) {
		const struct passwd *user = getpwuid((uid_t)uid);
		tool_error("ctl", "process %d belongs to %s%s%s: run this as that user, or as root", (int)pid, user ? "user " : "another user",
			user ? user->pw_name : "", user ? "" : "");
	} else if (geteuid() && scope == 1) {
		tool_error("ctl",
			"process %d has not agreed (kernel.yama.ptrace_scope is 1): start it by `xaudit record` or with `[trace] control = any`, or run "
			"this as root",
			(int)pid);
	} else if (scope == 2 && geteuid()) {
		tool_error("ctl", "process %d: only root may look into processes here (kernel.yama.ptrace_scope is 2)", (int)pid);
	} else if (scope == 3) {
		tool_error("ctl", "process %d: nobody may look into processes here (kernel.yama.ptrace_scope is 3)", (int)pid);
	} else {
		tool_error("ctl", "process %d can't be looked into: %s (it changed its user, or a sandbox is around it or us)", (int)pid,
			strerror(error));
	}
}

/* ---- mappings ---- */

static void free_maps(struct ctl_process *process)
{
	for (size_t i = 0; i < process->mappings; i++)
		free(process->mapping[i].path);
	free(process->mapping);
	process->mapping = NULL;
	process->mappings = 0;
}

bool ctl_maps(struct ctl_process *process)
{
	char path[64], *line = NULL;
	size_t room = 0, have = 0;
	FILE *file;

	free_maps(process);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)process->pid);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		struct ctl_mapping m = { 0 };
		char flags[8];
		int at = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %n", &m.start, &m.end, flags, &at) < 3 || !at)
			continue;
		line[strcspn(line, "\n")] = '\0';
		m.path = memory_text(line + at, strlen(line + at));
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
	size_t low = 0, high = process->mappings;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (process->mapping[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < process->mappings && process->mapping[low].start <= address ? &process->mapping[low] : NULL;
}

/* ---- memory ---- */

bool ctl_read(const struct ctl_process *process, uint64_t address, void *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(process->memory, (char *)to + done, size - done, (off_t)(address + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

bool ctl_write(const struct ctl_process *process, uint64_t address, const void *from, size_t size)
{
	struct iovec here = { (void *)(uintptr_t)from, size }, there = { (void *)(uintptr_t)address, size };
	size_t done = 0;

	if (!process->writable)
		return process_vm_writev(process->pid, &here, 1, &there, 1, 0) == (ssize_t)size;
	while (done < size) {
		ssize_t n = pwrite(process->memory, (const char *)from + done, size - done, (off_t)(address + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

char *ctl_text(const struct ctl_process *process, uint64_t address)
{
	char text[4096];
	size_t have = 0;

	/* Up to the end of a page at a time: what follows may not be there. */
	while (have < sizeof(text)) {
		size_t step = 4096 - ((address + have) & 4095);
		if (step > sizeof(text) - have)
			step = sizeof(text) - have;
		if (!ctl_read(process, address + have, text + have, step))
			return NULL;
		if (memchr(text + have, '\0', step))
			return memory_text(text, strlen(text));
		have += step;
	}
	return NULL;
}

char *ctl_folder(const struct ctl_process *process)
{
	char *path = ctl_text(process, (uint64_t)(uintptr_t)process->block.folder), *meta, *rooted;
	struct stat s;

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

/* ---- the module ---- */

/* An address in the dynamic section: ld.so has made it absolute, or not. */
static uint64_t absolute(uint64_t base, uint64_t address)
{
	return address < base ? base + address : address;
}

/* Finds CONTROL_SYMBOL among the dynamic symbols of the object at base. 0: it has none. */
static uint64_t find_symbol(const struct ctl_process *process, uint64_t base)
{
	Elf64_Ehdr head;
	Elf64_Phdr phdr[32];
	uint64_t dynamic = 0, symbols = 0, strings = 0, strings_size = 0;

	if (!ctl_read(process, base, &head, sizeof(head)) || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
		head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(*phdr) || head.e_phnum > 32 ||
		!ctl_read(process, base + head.e_phoff, phdr, head.e_phnum * sizeof(*phdr)))
		return 0;
	for (unsigned i = 0; i < head.e_phnum; i++)
		if (phdr[i].p_type == PT_DYNAMIC)
			dynamic = base + phdr[i].p_vaddr;
	for (unsigned i = 0; dynamic && i < 200; i++) {
		Elf64_Dyn entry;
		if (!ctl_read(process, dynamic + i * sizeof(entry), &entry, sizeof(entry)) || entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_SYMTAB)
			symbols = absolute(base, entry.d_un.d_ptr);
		if (entry.d_tag == DT_STRTAB)
			strings = absolute(base, entry.d_un.d_ptr);
		if (entry.d_tag == DT_STRSZ)
			strings_size = entry.d_un.d_val;
	}
	/* The names follow the symbols; ours are few. */
	for (uint64_t at = symbols; symbols && strings > symbols && at + sizeof(Elf64_Sym) <= strings && at < symbols + (64 << 10);
		at += sizeof(Elf64_Sym)) {
		char name[sizeof(CONTROL_SYMBOL)];
		Elf64_Sym symbol;
		if (!ctl_read(process, at, &symbol, sizeof(symbol)))
			break;
		if (!symbol.st_value || symbol.st_name + sizeof(name) > strings_size ||
			!ctl_read(process, strings + symbol.st_name, name, sizeof(name)))
			continue;
		if (!memcmp(name, CONTROL_SYMBOL, sizeof(name)))
			return base + symbol.st_value;
	}
	return 0;
}

/* The start of the file that is mapped there: a module's, by name. */
static bool is_module(const struct ctl_process *process, size_t i)
{
	const struct ctl_mapping *m = &process->mapping[i];
	const char *base = strrchr(m->path, '/');

	if (!base || strncmp(base, "/libxaudit.so", 13))
		return false;
	return i == 0 || strcmp(process->mapping[i - 1].path, m->path) != 0;
}

enum kind { KIND_UNKNOWN, KIND_32_BIT, KIND_STATIC };

/* What kind of program is it, if that is why it has no module? */
static enum kind look_at_program(pid_t pid)
{
	enum kind kind = KIND_STATIC;
	Elf64_Ehdr head;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return KIND_UNKNOWN;
	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) || memcmp(head.e_ident, ELFMAG, SELFMAG)) {
		kind = KIND_UNKNOWN;
	} else if (head.e_ident[EI_CLASS] == ELFCLASS32) {
		kind = KIND_32_BIT;
	} else {
		for (unsigned i = 0; i < head.e_phnum && i < 64; i++) {
			Elf64_Phdr phdr;
			if (pread(fd, &phdr, sizeof(phdr), (off_t)(head.e_phoff + i * sizeof(phdr))) != sizeof(phdr) ||
				phdr.p_type == PT_INTERP)
				kind = KIND_UNKNOWN;
		}
	}
	close(fd);
	return kind;
}

/* Without a module: why, perhaps. */
static void say_no_module(const struct ctl_process *process, bool some)
{
	int pid = (int)process->pid;

	switch (look_at_program(process->pid)) {
	case KIND_32_BIT:
		tool_error("ctl", "process %d is a 32-bit program: xaudit knows x86-64 only", pid);
		return;
	case KIND_STATIC:
		tool_error("ctl", "process %d is a static program: ld.so, which would load libxaudit.so, is not in it", pid);
		return;
	default:
		break;
	}
	if (some)
		tool_error("ctl", "process %d runs under another version of libxaudit.so: use the xaudit that came with it", pid);
	else
		tool_error("ctl", "process %d does not run under libxaudit.so: start it by `xaudit record`, or with LD_AUDIT=libxaudit.so", pid);
}

/*
 * Opens the process's memory. Where /proc is mounted read-only, root gets a view of its own that nobody else sees (Linux 5.2): by ptrace, code is written ten times
 * slower. That much is left to the others. Returns 0 or errno.
 */
static int open_memory(struct ctl_process *process)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)process->pid);
	process->memory = open(path, O_RDWR | O_CLOEXEC);
	process->writable = process->memory >= 0;
	if (process->memory >= 0 || errno != EROFS)
		return process->memory < 0 ? errno : 0;
	int system = (int)syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC);
	int made = system < 0 ? -1 : (int)syscall(SYS_fsconfig, system, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
	int root = made < 0 ? -1 : (int)syscall(SYS_fsmount, system, FSMOUNT_CLOEXEC, 0);
	if (root >= 0)
		process->memory = openat(root, path + sizeof("/proc"), O_RDWR | O_CLOEXEC);
	if (root >= 0)
		close(root);
	if (system >= 0)
		close(system);
	process->writable = process->memory >= 0;
	if (process->memory < 0)
		process->memory = open(path, O_RDONLY | O_CLOEXEC);
	return process->memory < 0 ? errno : 0;
}

bool ctl_open(struct ctl_process *process, pid_t pid)
{
	bool some = false, off = false;

	*process = (struct ctl_process){ .pid = pid, .memory = -1 };
	long group = ctl_status_number(pid, 0, "Tgid");
	if (group < 0) {
		tool_error("ctl", "there is no process %d", (int)pid);
		return false;
	}
	process->pid = pid = (pid_t)group;
	errno = 0;
	if (ctl_state(pid, 0) == 'Z' || !ctl_maps(process)) {
		int unread = errno ? errno : EPERM;
		if (unread == EPERM && ctl_state(pid, 0) != 'Z')
			tool_error("ctl", "process %d is a thread of the kernel", (int)pid);
		else
			ctl_explain(pid, 0, unread == ENOENT ? ESRCH : unread);
		return false;
	}
	int error = open_memory(process);
	if (error) {
		ctl_explain(pid, 0, error == ENOENT ? ESRCH : error);
		ctl_close(process);
		return false;
	}
	for (size_t i = 0; i < process->mappings; i++) {
		if (!is_module(process, i))
			continue;
		some = true;
		process->block_at = find_symbol(process, process->mapping[i].start);
		if (!process->block_at || !ctl_read(process, process->block_at, &process->block, sizeof(process->block)))
			continue;
		off = !process->block.ready;
		if (process->block.ready && process->block.magic == CONTROL_MAGIC &&
			!strncmp(process->block.version, PACKAGE_VERSION, sizeof(process->block.version)))
			return true;
	}
	if (off)
		tool_error("ctl", "process %d: libxaudit.so did not start in it; the reason was said on its standard error", (int)pid);
	else
		say_no_module(process, some);
	ctl_close(process);
	return false;
}

void ctl_close(struct ctl_process *process)
{
	if (process->memory >= 0)
		close(process->memory);
	process->memory = -1;
	free_maps(process);
}
