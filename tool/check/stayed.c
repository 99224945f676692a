/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/check/stayed.h"

#include <elf.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/plain.h"
#include "tool/check/finding.h"
#include "tool/check/report.h"
#include "tool/check/stack.h"
#include "tool/check/tasks.h"
#include "tool/show/term/names.h"

/* How many symbols are named. */
#define SYMBOLS 3

/* Adds "symbol NAME" for the unique symbols that a dynamic symbol table defines. Returns whether there are any. */
static bool take_unique(struct check_finding *f, Elf *elf, Elf_Scn *section, const Elf64_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0, found = 0;
	const Elf64_Sym *symbol = data ? data->d_buf : NULL;

	for (size_t i = 0; i < count; i++) {
		const char *name;

		if (ELF64_ST_BIND(symbol[i].st_info) != STB_GNU_UNIQUE || symbol[i].st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol[i].st_name);
		if (found++ < SYMBOLS && name)
			check_finding_detail(
				f, memory_format("because it defines the unique symbol %s", names_shown(name)));
	}
	if (found > SYMBOLS)
		check_finding_detail(f, memory_format("and %zu more unique symbols", found - SYMBOLS));
	return found;
}

static bool add_unique(struct check_finding *f, const char *path)
{
	int fd = plain_open(AT_FDCWD, path);
	bool found = false;
	Elf *elf = NULL;

	elf_version(EV_CURRENT);
	if (fd >= 0)
		elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
			Elf64_Shdr *header = elf64_getshdr(section);

			if (header && header->sh_type == SHT_DYNSYM)
				found = take_unique(f, elf, section, header) || found;
		}
	}
	if (elf)
		elf_end(elf);
	if (fd >= 0)
		close(fd);
	return found;
}

/* Returns whether there was something to add. */
static bool add_paths(struct check_finding *f, struct check_process *process, const struct check_message *message)
{
	char *by = message->bound_by ? check_read_text(process, message->bound_by) : NULL;
	char *symbol = message->bound_name ? check_read_text(process, message->bound_name) : NULL;

	bool found = by && symbol;

	if (found)
		check_finding_detail(f, memory_format("because %s is bound to its symbol %s", check_base(by), symbol));
	free(by);
	free(symbol);
	return found;
}

/* ---- needed by another ---- */

static struct held {
	struct held *next;
	const struct check_process *process;
	uint64_t load;
	struct check_finding *finding;
} * held;

static void hold(const struct check_process *process, uint64_t load, struct check_finding *finding)
{
	struct held *h = memory_zeroed(1, sizeof(*h));

	*h = (struct held){.next = held, .process = process, .load = load, .finding = finding};
	held = h;
}

/* load 0: all of the process. */
static void release(const struct check_process *process, uint64_t load)
{
	for (struct held **link = &held; *link;) {
		struct held *h = *link;

		if (h->process != process || (load && h->load != load)) {
			link = &h->next;
			continue;
		}
		*link = h->next;
		if (load)
			check_finding_free(h->finding);
		else
			check_found(h->finding);
		free(h);
	}
}

void check_stayed_gone(const struct check_process *process, uint64_t load)
{
	release(process, load);
}

void check_stayed_end(const struct check_process *process)
{
	release(process, 0);
}

void check_stayed(struct check_task *task, const struct check_message *message)
{
	struct check_process *process = task->process;

	/* Libraries that the program itself was linked with stay anyway, as everyone expects. */
	if (message->flags & CHECK_FROM_START)
		return;
	char *path = check_read_path(process, message->path);
	char *needed = message->needed_by ? check_read_text(process, message->needed_by) : NULL;
	if (!path)
		return;
	struct check_finding *f = check_finding(CHECK_STAYED, process, task->tid, path,
		"%s was closed for the last time, but it stays", check_base(path));
	if (message->flags & CHECK_NODELETE)
		check_finding_detail(f, memory_format("because it is marked NODELETE (-z nodelete)"));
	if (message->destructors)
		check_finding_detail(
			f, memory_format("because %llu destructor%s of its thread_local objects must still run",
				   (unsigned long long)message->destructors, message->destructors == 1 ? "" : "s"));
	bool held_by_other = add_paths(f, process, message) || needed;
	bool unique = false;
	if (message->flags & CHECK_MARKED && !(message->flags & CHECK_NODELETE))
		unique = add_unique(f, path);
	/* Of the reasons for that mark only this one is left. */
	if (message->flags & CHECK_MARKED && !f->details)
		check_finding_detail(
			f, memory_format("because it was opened with RTLD_NODELETE, or one that was needs it"));
	if (needed)
		check_finding_detail(f, memory_format("because %s still needs it", check_base(needed)));
	if (!f->details)
		check_finding_detail(f, memory_format("because another library refers to it, perhaps, or a destructor "
						      "of it is still running"));
	bool meant = message->flags & (CHECK_NODELETE | CHECK_MARKED) && !unique;
	if (meant || (held_by_other && !unique && !message->destructors))
		f->severity = CHECK_NOTE;
	struct check_snapshot *s = check_snapshot(task, 0);
	if (s) {
		struct check_names *names = check_names_begin(process, NULL);

		check_finding_closer(f, names, s, "closed by");
		check_names_end(names);
	}
	check_snapshot_free(s);
	/* It was closed before, opened, and closed again: it is told at most once. */
	check_stayed_gone(process, message->load);
	if (needed && f->details == 1)
		hold(process, message->load, f);
	else
		check_found(f);
	free(needed);
	free(path);
}
