/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/check/pointers.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/check/finding.h"
#include "tool/check/report.h"
#include "tool/check/scan.h"
#include "tool/check/stack.h"
#include "tool/check/tasks.h"
#include "tool/show/term/names.h"

#define LISTED 20 /* possible pointers that are told one by one */
#define PIECE  (256u * 4096)
#define THREAD_WORDS 512 /* struct pthread of glibc is smaller */

struct scan {
	struct check_scan *common;
	/* The last file in the order of addresses, and where its load ends, with its zeroed data. */
	char file[4096];
	uint64_t file_start, file_end;
	struct check_finding *pointers;
	size_t more;
	/* Where the live part of each thread's stack begins. */
	uint64_t *sp;
	uint64_t *thread; /* what glibc keeps of each */
	size_t sps;
	uint8_t *piece;
	int pagemap;
};

/* "callback+0x8 of host", or without a name: "host+0x4010", "0x7f1234567890 in [heap]". */
static char *describe(struct scan *s, const char *where, uint64_t at)
{
	struct check_frame holder;
	char *text;

	if (where != s->file)
		return memory_format("0x%" PRIx64 " in %s", at, where);
	check_name_data(check_scan_names(s->common), s->file_start, at, &holder);
	if (holder.function && holder.offset)
		text = memory_format("%s+0x%" PRIx64 " of %s", names_shown(holder.function), holder.offset,
			check_base(s->file));
	else if (holder.function)
		text = memory_format("%s of %s", names_shown(holder.function), check_base(s->file));
	else
		text = memory_format(
			"%s+0x%" PRIx64, check_base(s->file), holder.object ? holder.offset : at - s->file_start);
	check_frame_free(&holder);
	return text;
}

/* where: s->file, or another name of the mapping. */
static void possible(struct scan *s, const char *where, bool stack, uint64_t at, uint64_t address)
{
	struct check_frame frame;

	check_name(check_scan_names(s->common), address, true, &frame);
	/* Stacks hold old return addresses; a pointer to a function is one to its start. */
	if (stack && frame.function && frame.offset) {
		check_frame_free(&frame);
		return;
	}
	if (!s->pointers)
		s->pointers = check_finding(CHECK_POINTER, s->common->task->process, s->common->task->tid,
			s->common->unload->path, "memory holds addresses of functions of %s, which is unloaded",
			check_base(s->common->unload->path));
	if (s->pointers->details == LISTED) {
		s->more++;
		check_frame_free(&frame);
		return;
	}
	char *target = !frame.function ? memory_format("offset 0x%" PRIx64, address - s->common->unload->at.base)
		       : frame.offset  ? memory_format("%s+0x%" PRIx64, names_shown(frame.function), frame.offset)
				       : memory_format("%s", names_shown(frame.function));
	char *holder = describe(s, where, at);
	check_finding_detail(s->pointers, memory_format("%s points to %s", holder, target));
	free(holder);
	free(target);
	check_frame_free(&frame);
}

/*
 * Is it a struct dtor_list of __cxa_thread_atexit_impl: function, object, link_map, next? In used entries of the list
 * for exit() the third word is a handle of a library, perhaps of the one that is gone, whose range reads as zeros: a
 * link_map has a name and a dynamic section.
 */
static bool is_thread_atexit(const struct scan *s, const uint64_t *word, size_t left)
{
	const struct check_unload *unload = s->common->unload;
	struct link_map map;

	if (left < 4 || !word[2] || word[2] & 7 || word[3] & 7)
		return false;
	if (word[2] >= unload->at.base && word[2] < unload->at.end)
		return false;
	return check_read(s->common->task->process, word[2], &map, sizeof(map)) == sizeof(map) &&
	       !(map.l_addr & 4095) && map.l_name && map.l_ld && (uint64_t)(uintptr_t)map.l_ld >= map.l_addr;
}

/*
 * Is it in what glibc keeps of a thread, above the thread's stack, and has that thread ended? Such a stack stays for
 * the next thread, with the function that the last one began with. The first and the third word there are its own
 * address.
 */
static bool is_of_ended_thread(const struct scan *s, uint64_t at)
{
	uint64_t words[THREAD_WORDS];
	size_t size = at > sizeof(words) ? sizeof(words) : 0, read;

	read = size ? check_read(s->common->task->process, at - size, words, size) : 0;
	for (size_t i = 0; i + 2 < read / 8; i++) {
		uint64_t thread = at - size + 8 * i;
		bool lives = false;

		if (words[i] != thread || words[i + 2] != thread || thread & 63)
			continue;
		for (size_t k = 0; k < s->sps; k++)
			lives |= s->thread[k] == thread;
		return !lives;
	}
	return false;
}

static void scan_words(struct scan *s, const char *where, bool stack, uint64_t at, const uint64_t *word, size_t count)
{
	struct check_scan *c = s->common;

	for (size_t i = 0; i < count; i++) {
		uint64_t before = i ? word[i - 1] : 0, plain = check_scan_demangle(c, word[i]), place = at + 8 * i;
		bool mangled = check_scan_hit(c, plain);

		if ((!mangled && !check_scan_hit(c, word[i])) || check_scan_told(c, place))
			continue;
		/* Its list was looked at; an entry that was taken out may still have its words. */
		if (place >= c->fork_start && place < c->fork_end)
			continue;
		if (!mangled && !stack && is_of_ended_thread(s, place))
			continue;
		if (!mangled)
			possible(s, where, stack, place, word[i]);
		else if (before == EF_AT || before == EF_CXA)
			check_scan_found(
				c, CHECK_ATEXIT, c->task->tid, "a function to be called at exit", place, plain, NULL);
		else if (before == EF_ON)
			check_scan_found(
				c, CHECK_ATEXIT, c->task->tid, "a function given to on_exit", place, plain, NULL);
		else if (is_thread_atexit(s, word + i, count - i))
			check_scan_found(c, CHECK_THREAD_ATEXIT, c->task->tid,
				"a function to be called at a thread's end", place, plain, NULL);
	}
}

/* Reads pages that are in memory, or swapped out: of a large reserved mapping, these are few. */
static void scan_range(struct scan *s, const char *where, bool stack, uint64_t start, uint64_t end)
{
	static uint64_t present[PIECE / 4096];
	size_t done;

	for (uint64_t at = start; at < end; at += PIECE) {
		size_t size = end - at < PIECE ? end - at : PIECE, pages = (size + 4095) / 4096;
		ssize_t n = s->pagemap < 0 ? -1 : pread(s->pagemap, present, pages * 8, (off_t)(at / 4096 * 8));

		for (size_t i = 0; i < pages; i++) {
			/* Bits 63 and 62: present, swapped. If the kernel does not tell, all pages are read. */
			if (n == (ssize_t)(pages * 8) && !(present[i] >> 62))
				continue;
			size_t run = i + 1;
			while (run < pages && !(n == (ssize_t)(pages * 8) && !(present[run] >> 62)))
				run++;
			size_t length = (run * 4096 < size ? run * 4096 : size) - i * 4096;
			done = check_read(s->common->task->process, at + i * 4096, s->piece, length);
			scan_words(s, where, stack, at + i * 4096, (const uint64_t *)s->piece, done / 8);
			i = run;
		}
	}
}

/* The loader's lists and our own notes may well point to unloaded libraries. */
static bool is_ours(const char *file)
{
	return !strncmp(file, "libxaudit", 9) || !strncmp(file, "ld-linux", 8);
}

static void scan_part(struct scan *s, const char *where, uint64_t start, uint64_t end)
{
	uint64_t from = start;
	bool stack = false;

	for (size_t i = 0; i < s->sps; i++) {
		if (s->sp[i] < start || s->sp[i] >= end)
			continue;
		/* If several stacks lie in one mapping, memory below the lowest is dead. */
		from = !stack || (s->sp[i] & ~7ull) < from ? s->sp[i] & ~7ull : from;
		stack = true;
	}
	scan_range(s, stack ? "a stack" : where, stack, from, end);
}

/* Where the load of the file that is mapped here ends; 0: it is no ELF file. */
static uint64_t load_end(struct check_process *process, uint64_t start)
{
	uint64_t first = UINT64_MAX, end = 0;
	Elf64_Phdr p;
	Elf64_Ehdr e;

	if (check_read(process, start, &e, sizeof(e)) != sizeof(e) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0)
		return 0;
	for (unsigned i = 0; i < e.e_phnum; i++) {
		if (check_read(process, start + e.e_phoff + i * sizeof(p), &p, sizeof(p)) != sizeof(p))
			return 0;
		if (p.p_type != PT_LOAD)
			continue;
		first = p.p_vaddr < first ? p.p_vaddr & ~4095ull : first;
		end = p.p_vaddr + p.p_memsz > end ? p.p_vaddr + p.p_memsz : end;
	}
	return end ? (start + end - first + 4095) & ~4095ull : 0;
}

/* After a file's data lies its zeroed data, in one mapping with any anonymous memory that follows. */
static int scan_mapping(const struct check_mapping *m, void *context)
{
	struct scan *s = context;
	uint64_t start = m->start;

	if (*m->path == '/' && (strcmp(m->path, s->file) != 0 || m->start >= s->file_end)) {
		snprintf(s->file, sizeof(s->file), "%s", m->path);
		s->file_start = m->start;
		s->file_end = load_end(s->common->task->process, m->start);
		s->file_end = s->file_end < m->end ? m->end : s->file_end;
	}
	if (!m->writable || !m->readable || m->shared)
		return 0;
	if (start < s->file_end && *m->path != '[') {
		uint64_t end = m->end < s->file_end ? m->end : s->file_end;

		if (!is_ours(check_base(s->file)))
			scan_part(s, s->file, start, end);
		start = end;
	}
	if (start < m->end)
		scan_part(s, *m->path ? m->path : "anonymous memory", start, m->end);
	return 0;
}

static void find_stacks(struct scan *s)
{
	for (struct check_task *t = check_tasks; t; t = t->next) {
		struct check_snapshot *snapshot;

		if (t->process != s->common->task->process || (t != s->common->task && !t->stopped))
			continue;
		snapshot = check_snapshot(t, 0);
		if (!snapshot)
			continue;
		uint64_t sp = snapshot->regs[REMOTE_DWARF_SP];
		if (t == s->common->task) {
			struct check_stack stack;

			/* The frames of the module and the loader on it do not count. */
			check_unwind(check_scan_names(s->common), snapshot, &stack);
			check_stack_name(check_scan_names(s->common), &stack);
			const struct check_frame *culprit = check_stack_culprit(&stack);
			if (culprit && culprit->sp)
				sp = culprit->sp;
			check_stack_free(&stack);
		}
		s->sp = memory_resize(s->sp, s->sps + 1, sizeof(*s->sp));
		s->thread = memory_resize(s->thread, s->sps + 1, sizeof(*s->thread));
		s->thread[s->sps] = snapshot->thread;
		s->sp[s->sps++] = sp;
		check_snapshot_free(snapshot);
	}
}

void check_pointers(struct check_scan *common)
{
	pid_t pid = common->task->process->pid;
	struct scan s = {.common = common};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	s.pagemap = open(path, O_RDONLY | O_CLOEXEC);
	s.piece = memory_resize(NULL, PIECE, 1);
	find_stacks(&s);
	check_mappings(pid, scan_mapping, &s);
	if (s.pointers) {
		if (s.more)
			check_finding_detail(s.pointers, memory_format("and %zu more", s.more));
		if (common->unload->by)
			check_finding_closer(s.pointers, check_scan_names(common), common->unload->by, "unloaded by");
		check_found(s.pointers);
	}
	if (s.pagemap >= 0)
		close(s.pagemap);
	free(s.thread);
	free(s.sp);
	free(s.piece);
}
