/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/find_module.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "tool/base/now.h"
#include "tool/base/tool.h"
#include "tool/ctl/process.h"
#include "tool/record/objects.h"

#define MS		 1000000ull
#define PATIENCE	 (2000 * MS)
#define YOUTH		 (300 * MS)
#define OTHERS		 (5000 * MS)
#define MOST_CANDIDATES	 16
#define MOST_ENVIRONMENT (16u << 20)

/* ---- the module ---- */

enum found {
	FOUND_NOTHING,
	FOUND_PART,	 /* a file of its name that has no control block */
	FOUND_BEGINNING, /* it is not mapped in whole, or its control block is not filled in */
	FOUND_OTHER,	 /* another version */
	FOUND_MODULE,
};

/* An address in the dynamic section: ld.so has made it absolute, or not. */
static uint64_t absolute(uint64_t base, uint64_t address)
{
	return address < base ? base + address : address;
}

/*
 * Finds CONTROL_SYMBOL among the dynamic symbols of the object at base. 0: it has none. *mapped: there are such
 * symbols; ld.so maps the part that leads to them last, and other bytes are at its place before.
 */
static uint64_t find_symbol(const struct ctl_process *process, uint64_t base, bool *mapped)
{
	Elf64_Ehdr head;
	Elf64_Phdr phdr[32];
	uint64_t dynamic = 0, symbols = 0, strings = 0, strings_size = 0;

	*mapped = false;
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
	*mapped = symbols && strings;
	/* The names follow the symbols; ours are few. */
	for (uint64_t at = symbols;
		symbols && strings > symbols && at + sizeof(Elf64_Sym) <= strings && at < symbols + (64 << 10);
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
	char path[64], file[4096];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	/* `ld.so PROGRAM`: what it runs is not static, or it would not. */
	ssize_t n = readlink(path, file, sizeof(file) - 1);
	file[n > 0 ? n : 0] = '\0';
	if (record_is_loader(file))
		return KIND_UNKNOWN;
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

enum asked { ASKED_NOT, ASKED, ASKED_NOTHING_THERE };

/*
 * Does its environment ask ld.so for the module? As it was when the program was executed: while the kernel executes
 * another one, there is none for a moment.
 */
static enum asked is_asked_for(pid_t pid)
{
	char path[64], *entry = NULL;
	size_t room = 0, read = 0;
	ssize_t n;
	bool asked = false;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	FILE *file = fopen(path, "re");
	while (file && !asked && read < MOST_ENVIRONMENT && (n = getdelim(&entry, &room, '\0', file)) > 0) {
		asked = !strncmp(entry, "LD_AUDIT=", 9) && strstr(entry, "libxaudit.so");
		read += (size_t)n;
	}
	free(entry);
	if (file)
		fclose(file);
	return asked ? ASKED : read ? ASKED_NOT : ASKED_NOTHING_THERE;
}

/* Has it begun only now? Then it may be a child that has yet to execute its program. */
static bool is_young(pid_t pid)
{
	uint64_t begin = ctl_begin(pid);

	return begin && tool_now_on(CLOCK_BOOTTIME) - begin < YOUTH;
}

/* Without a module: why, perhaps. */
static void say_no_module(const struct ctl_process *process, enum found found, enum kind kind)
{
	int pid = (int)process->pid;

	if (found == FOUND_BEGINNING)
		tool_error("ctl", "process %d is just starting: libxaudit.so is not ready in it yet; try again", pid);
	else if (kind == KIND_32_BIT)
		tool_error("ctl", "process %d is a 32-bit program: xaudit knows x86-64 only", pid);
	else if (kind == KIND_STATIC)
		tool_error("ctl", "process %d is a static program: ld.so, which would load libxaudit.so, is not in it",
			pid);
	else if (found == FOUND_OTHER || found == FOUND_PART)
		tool_error("ctl",
			"process %d runs under another version of libxaudit.so: use the xaudit that came with it", pid);
	else if (is_asked_for(process->pid) == ASKED)
		tool_error("ctl",
			"process %d does not run under libxaudit.so, though its LD_AUDIT names it; the reason was said "
			"on its standard error",
			pid);
	else
		tool_error("ctl",
			"process %d does not run under libxaudit.so: start it by `xaudit record`, or with "
			"LD_AUDIT=libxaudit.so",
			pid);
}

/*
 * Opens the process's memory. Where /proc is mounted read-only, root gets a view of its own that no other process sees
 * (Linux 5.2). Other users write code by ptrace, ten times slower. Returns 0 or errno.
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

/* What is in the process now. Reads its mappings again. */
static enum found look(struct ctl_process *process)
{
	enum found found = FOUND_NOTHING;
	unsigned candidates = 0;

	ctl_maps(process);
	for (size_t i = 0; i < process->mappings && candidates < MOST_CANDIDATES; i++) {
		const struct control_block *b = &process->block;
		if (!is_module(process, i))
			continue;
		candidates++;
		bool mapped;
		process->block_at = find_symbol(process, process->mapping[i].start, &mapped);
		if (!process->block_at) {
			if (found == FOUND_NOTHING)
				found = mapped ? FOUND_PART : FOUND_BEGINNING;
			continue;
		}
		if (!ctl_read(process, process->block_at, &process->block, sizeof(process->block)) || !b->ready ||
			b->magic != CONTROL_MAGIC)
			found = FOUND_BEGINNING;
		else if (strncmp(b->version, PACKAGE_VERSION, sizeof(b->version)))
			found = FOUND_OTHER;
		else
			return FOUND_MODULE;
	}
	return found;
}

/* Nothing of the module is there: may it still come? waited: for so long it was waited for. */
static bool may_come(pid_t pid, uint64_t waited)
{
	enum asked asked = is_asked_for(pid);

	return asked == ASKED || (asked == ASKED_NOTHING_THERE && waited < YOUTH) || is_young(pid);
}

/*
 * Finds the module. ld.so maps it piece by piece, and it takes a moment until it has filled in its block, so if the
 * process was told to load it, every failure is waited for, but not a module of another version.
 */
static bool find_module(struct ctl_process *process)
{
	uint64_t begin = tool_now();
	enum kind kind = KIND_UNKNOWN;
	enum found found;

	while ((found = look(process)) != FOUND_MODULE) {
		struct timespec wait = {.tv_nsec = 5 * MS};
		if (found == FOUND_NOTHING)
			kind = look_at_program(process->pid);
		if (found == FOUND_OTHER || kind != KIND_UNKNOWN || !process->mappings ||
			tool_now() - begin > PATIENCE || ctl_limit_reached() ||
			(found == FOUND_NOTHING && !may_come(process->pid, tool_now() - begin)))
			break;
		nanosleep(&wait, NULL);
		/* It may have executed the program only now, and have other memory. */
		close(process->memory);
		int error = open_memory(process);
		if (error) {
			ctl_explain(process->pid, 0, error == ENOENT ? ESRCH : error);
			return false;
		}
	}
	if (found == FOUND_MODULE)
		return true;
	if (!process->mappings)
		ctl_explain(process->pid, 0, ESRCH);
	else
		say_no_module(process, found, kind);
	return false;
}

bool ctl_open(struct ctl_process *process, pid_t pid)
{
	ctl_limit_begin();
	*process = (struct ctl_process){.pid = pid, .memory = -1};
	long group = ctl_status_number(pid, 0, "Tgid");
	if (group < 0) {
		ctl_say_gone(pid);
		return false;
	}
	process->pid = pid = (pid_t)group;
	errno = 0;
	if (ctl_state(pid, 0) == 'Z' || !ctl_maps(process)) {
		/* While a process ends, it has no memory, and is no zombie yet. */
		int unread = errno ? errno : ctl_state(pid, 0) == 'Z' ? EPERM : ESRCH;
		if (unread == ESRCH && ctl_is_kernels(pid))
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
	if (find_module(process))
		return true;
	ctl_close(process);
	return false;
}

enum ctl_looked ctl_look(struct ctl_process *process, pid_t pid, uint64_t since)
{
	ctl_limit_begin();
	*process = (struct ctl_process){ .pid = pid, .memory = -1 };
	const int error = open_memory(process);
	const enum found found = error ? FOUND_NOTHING : look(process);
	if (found == FOUND_MODULE)
		return CTL_FOUND;
	ctl_close(process);
	/* Between two programs there is no memory. */
	const bool may = error ? error == ESRCH : found != FOUND_OTHER && is_asked_for(pid) != ASKED_NOT;
	errno = error;
	return may && since < PATIENCE ? CTL_YET : CTL_NEVER;
}

bool ctl_is_other(const struct ctl_process *process)
{
	struct control_block block;

	return !ctl_read(process, process->block_at, &block, sizeof(block)) || block.magic != CONTROL_MAGIC;
}

void ctl_close(struct ctl_process *process)
{
	if (process->memory >= 0)
		close(process->memory);
	process->memory = -1;
	ctl_maps_free(process);
}

/* The file is the same one for all who may open it: those who may change the process anyway. */
bool ctl_alone(const struct ctl_process *process)
{
	const uint64_t begin = tool_now();

	while (flock(process->memory, LOCK_EX | LOCK_NB)) {
		struct timespec wait = {.tv_nsec = 2 * MS};
		if ((errno != EWOULDBLOCK && errno != EINTR) || tool_now() - begin > OTHERS)
			return false;
		nanosleep(&wait, NULL);
	}
	return true;
}
