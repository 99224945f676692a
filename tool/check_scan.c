/* SPDX-License-Identifier: MIT */
/*
 * What in the memory of a stopped process points into a library that it unloaded. libc's own lists are known by the
 * form of their entries: functions of atexit() and on_exit(), and of __cxa_thread_atexit_impl(), are kept mangled with
 * the thread's pointer guard, which no other word looks like; destructors of thread-specific data stand in a table
 * behind an odd number. Of other memory, each aligned word that is an address of the text counts, as a possible
 * pointer.
 */
#define _GNU_SOURCE
#include "tool/check.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/memory.h"

#define LISTED 20 /* possible pointers that are told one by one */
#define PIECE  (256u * 4096)

/* glibc's enum of struct exit_function */
enum { EF_ON = 2, EF_AT = 3, EF_CXA = 4 };

struct scan {
	struct check_task *task;
	const struct check_unload *unload;
	struct check_names *made_names; /* see names() */
	uint64_t guard;
	bool all;	   /* the whole memory, not just libc's */
	char before[4096]; /* the file of the mapping before, while anonymous ones follow it without a gap */
	uint64_t before_end;
	bool skip; /* ... and whether it is left out */
	struct check_finding *pointers;
	size_t more;
	/* Where the live part of each thread's stack begins. */
	uint64_t *sp;
	size_t sps;
	uint8_t *piece;
	int pagemap;
};

/* Made when the first is needed: nothing is found, as a rule. */
static struct check_names *names(struct scan *s)
{
	if (!s->made_names)
		s->made_names = check_names_begin(s->task->process, s->unload);
	return s->made_names;
}

static bool is_text(const struct scan *s, uint64_t address)
{
	return address >= s->unload->at.text_start && address < s->unload->at.text_end;
}

static uint64_t demangle(const struct scan *s, uint64_t word)
{
	return (word >> 17 | word << 47) ^ s->guard;
}

static void found(struct scan *s, enum check_kind kind, const char *what, uint64_t address)
{
	struct check_frame frame;
	struct check_process *process = s->task->process;

	check_name(names(s), address, true, &frame);
	char *name = frame.function ? memory_format("%s", frame.function)
				    : memory_format("offset 0x%" PRIx64, address - s->unload->at.base);
	struct check_finding *f = check_finding(kind, process, s->task->tid, s->unload->path,
		"%s is %s of %s, which is unloaded", what, name, check_base(s->unload->path));
	if (s->unload->by)
		check_finding_closer(f, names(s), s->unload->by, "unloaded by");
	check_found(f);
	free(name);
	check_frame_free(&frame);
}

static void possible(struct scan *s, const char *where, bool stack, uint64_t at, uint64_t address)
{
	struct check_frame frame, holder;

	check_name(names(s), address, true, &frame);
	/* Old return addresses lie about in stacks; a pointer is to a function's start. */
	if (stack && frame.function && frame.offset) {
		check_frame_free(&frame);
		return;
	}
	if (!s->pointers)
		s->pointers = check_finding(CHECK_POINTER, s->task->process, s->task->tid, s->unload->path,
			"memory holds addresses of functions of %s, which is unloaded", check_base(s->unload->path));
	if (s->pointers->details == LISTED) {
		s->more++;
		check_frame_free(&frame);
		return;
	}
	check_name(names(s), at, true, &holder);
	char *target = !frame.function ? memory_format("offset 0x%" PRIx64, address - s->unload->at.base)
		       : frame.offset  ? memory_format("%s+0x%" PRIx64, frame.function, frame.offset)
				       : memory_format("%s", frame.function);
	if (holder.function)
		check_finding_detail(s->pointers, memory_format("%s+0x%" PRIx64 " of %s points to %s", holder.function,
							  holder.offset, check_base(holder.object), target));
	else
		check_finding_detail(s->pointers, memory_format("0x%" PRIx64 " in %s points to %s", at, where, target));
	free(target);
	check_frame_free(&frame);
	check_frame_free(&holder);
}

/* Is it a struct dtor_list of __cxa_thread_atexit_impl: function, object, link_map, next? */
static bool is_thread_atexit(const struct scan *s, const uint64_t *word, size_t left)
{
	uint64_t base;

	if (left < 4 || !word[2] || word[2] & 7)
		return false;
	return check_read(s->task->process, word[2], &base, 8) == 8 && !(base & 4095) && (word[3] & 7) == 0;
}

static void scan_words(
	struct scan *s, const char *where, bool libc, bool stack, uint64_t at, const uint64_t *word, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t before = i ? word[i - 1] : 0, plain = demangle(s, word[i]);

		if (is_text(s, plain)) {
			/* Of libc, the other scan has told. */
			if (libc != s->all) {
				if (before == EF_AT || before == EF_CXA)
					found(s, CHECK_ATEXIT, "a function to be called at exit", plain);
				else if (before == EF_ON)
					found(s, CHECK_ATEXIT, "a function of on_exit", plain);
				else if (is_thread_atexit(s, word + i, count - i))
					found(s, CHECK_THREAD_ATEXIT, "a function to be called at a thread's exit",
						plain);
			}
		} else if (is_text(s, word[i])) {
			if (libc && before & 1 && before < 1u << 24) {
				if (!s->all)
					found(s, CHECK_KEY_DESTRUCTOR, "the destructor of a thread-specific key",
						word[i]);
			} else if (s->all) {
				possible(s, where, stack, at + 8 * i, word[i]);
			}
		}
	}
}

/* Reads what is in memory, or swapped out: of a large reserved mapping, little is. */
static void scan_range(struct scan *s, const char *where, bool libc, bool stack, uint64_t start, uint64_t end)
{
	static uint64_t present[PIECE / 4096];
	size_t done;

	for (uint64_t at = start; at < end; at += PIECE) {
		size_t size = end - at < PIECE ? end - at : PIECE, pages = (size + 4095) / 4096;
		ssize_t n = s->pagemap < 0 ? -1 : pread(s->pagemap, present, pages * 8, (off_t)(at / 4096 * 8));

		for (size_t i = 0; i < pages; i++) {
			/* Bits 63 and 62: present, swapped. Where the kernel does not tell, all is read. */
			if (n == (ssize_t)(pages * 8) && !(present[i] >> 62))
				continue;
			size_t run = i + 1;
			while (run < pages && !(n == (ssize_t)(pages * 8) && !(present[run] >> 62)))
				run++;
			size_t length = (run * 4096 < size ? run * 4096 : size) - i * 4096;
			done = check_read(s->task->process, at + i * 4096, s->piece, length);
			scan_words(s, where, libc, stack, at + i * 4096, (const uint64_t *)s->piece, done / 8);
			i = run;
		}
	}
}

/* The loader's lists and our own notes know unloaded libraries by right. */
static bool is_ours(const char *file)
{
	return !strncmp(file, "libxaudit", 9) || !strncmp(file, "ld-linux", 8);
}

static int scan_mapping(const struct check_mapping *m, void *context)
{
	struct scan *s = context;
	bool follows = m->start == s->before_end && !*m->path;
	uint64_t start = m->start;
	bool stack = false;
	char where[128];

	if (!follows)
		snprintf(s->before, sizeof(s->before), "%s", m->path);
	s->before_end = m->end;
	const char *file = check_base(s->before);
	bool libc = !strncmp(file, "libc.so.6", 9);
	if (!m->writable || !m->readable || m->shared || is_ours(file) || (!libc && !s->all))
		return 0;
	for (size_t i = 0; i < s->sps; i++) {
		if (s->sp[i] < m->start || s->sp[i] >= m->end)
			continue;
		/* Several stacks in one mapping, if ever: what lies below the lowest is dead. */
		start = !stack || (s->sp[i] & ~7ull) < start ? s->sp[i] & ~7ull : start;
		stack = true;
	}
	snprintf(where, sizeof(where), "%.100s",
		stack		    ? "a stack"
		: *s->before == '[' ? s->before
		: *file		    ? file
				    : "anonymous memory");
	scan_range(s, where, libc, stack, start, m->end);
	return 0;
}

static void find_stacks(struct scan *s)
{
	for (struct check_task *t = check_tasks; t; t = t->next) {
		struct check_snapshot *snapshot;

		if (t->process != s->task->process || (t != s->task && !t->stopped))
			continue;
		snapshot = check_snapshot(t, 0);
		if (!snapshot)
			continue;
		uint64_t sp = snapshot->regs[7];
		if (t == s->task) {
			struct check_stack stack;

			/* What we and the loader have on it does not count. */
			check_unwind(names(s), snapshot, &stack);
			check_stack_name(names(s), &stack);
			const struct check_frame *culprit = check_stack_culprit(&stack);
			if (culprit && culprit->sp)
				sp = culprit->sp;
			check_stack_free(&stack);
		}
		s->sp = memory_resize(s->sp, s->sps + 1, sizeof(*s->sp));
		s->sp[s->sps++] = sp;
		check_snapshot_free(snapshot);
	}
}

static void scan(struct check_task *task, const struct check_unload *unload, bool all)
{
	struct check_snapshot *snapshot = check_snapshot(task, 0);
	struct scan s = {.task = task, .unload = unload, .all = all, .pagemap = -1};
	char path[64];

	if (!snapshot)
		return;
	s.piece = memory_resize(NULL, PIECE, 1);
	/* struct tcbhead: the guard of mangled pointers, the same in all threads. */
	check_read(task->process, snapshot->fs_base + 0x30, &s.guard, sizeof(s.guard));
	if (all) {
		snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)task->process->pid);
		s.pagemap = open(path, O_RDONLY | O_CLOEXEC);
		find_stacks(&s);
	}
	check_mappings(task->process->pid, scan_mapping, &s);
	if (s.pointers) {
		if (s.more)
			check_finding_detail(s.pointers, memory_format("and %zu more", s.more));
		if (unload->by)
			check_finding_closer(s.pointers, names(&s), unload->by, "unloaded by");
		check_found(s.pointers);
	}
	if (s.pagemap >= 0)
		close(s.pagemap);
	free(s.sp);
	free(s.piece);
	if (s.made_names)
		check_names_end(s.made_names);
	check_snapshot_free(snapshot);
}

void check_scan_libc(struct check_task *task, const struct check_unload *unload)
{
	scan(task, unload, false);
}

void check_scan_memory(struct check_task *task, const struct check_unload *unload)
{
	scan(task, unload, true);
}
