/* SPDX-License-Identifier: MIT */
/*
 * None of the lists has a name that could be looked up, so each is found by its form, in libc's own data:
 *
 *   for exit: a pointer to a block {next, count, 32 entries}, the newest first; an entry has one of five flavours and a
 *     function mangled with the pointer guard. A list of each kind (exit, quick_exit);
 *   for the end of a thread: entries {mangled function, object, link_map, next}; the module has found out where in
 *     thread-local data the list begins (audit/check/link_map.h);
 *   thread-specific keys: a table of pairs {odd number, destructor};
 *   for fork: {used, room, address} of an array of {before, in the parent, in the child, library, rising number}.
 *
 * Data that only looks like a list does no harm but costs time: functions count only when they point into the text that
 * was unloaded. Most of that time goes into words that point to no list of functions for exit. The pointers of the real
 * lists always point to one, so a word that once did not is not followed again in this process.
 */
#define _GNU_SOURCE
#include "tool/check/libc_lists.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "tool/base/memory.h"
#include "tool/check/finding.h"
#include "tool/check/scan.h"
#include "tool/check/stack.h"
#include "tool/check/tasks.h"

#define BLOCK_ENTRIES 32
#define BLOCKS_MAX    4096
#define THREAD_MAX    65536 /* functions for the end of one thread */
#define FORK_INITIAL  48    /* entries that follow the array's head */
#define FORK_MAX      4096
#define LIBC_MAX      (256u << 10) /* of one mapping; it has 76 KiB */
#define ADDRESS_END   (1ull << 47)

struct exit_block {
	uint64_t next, count;
	struct {
		uint64_t flavour, function, argument, library;
	} entry[BLOCK_ENTRIES];
};

struct thread_entry {
	uint64_t function, object, map, next;
};

struct fork_entry {
	uint64_t function[3], library, number;
};

struct libc_lists {
	struct check_scan *scan;
	char before[4096]; /* the file mapped before, while anonymous mappings follow it without a gap */
	uint64_t before_end;
};

static bool is_pointer(uint64_t word)
{
	return !(word & 7) && word >= 4096 && word < ADDRESS_END;
}

static struct check_process *process_of(const struct check_scan *s)
{
	return s->task->process;
}

/* ---- for exit ---- */

static bool is_block(const struct check_scan *s, const struct exit_block *block)
{
	if (block->count > BLOCK_ENTRIES || (block->next && !is_pointer(block->next)))
		return false;
	for (size_t i = 0; i < block->count; i++) {
		uint64_t flavour = block->entry[i].flavour;

		if (flavour > EF_CXA)
			return false;
		if (flavour >= EF_ON && check_scan_demangle(s, block->entry[i].function) >= ADDRESS_END)
			return false;
	}
	return true;
}

/* "given to libc by OBJECT"; handle: an address in it. NULL: not known. */
static char *giver(struct check_scan *s, uint64_t handle)
{
	struct check_frame frame;
	char *text = NULL;

	check_name(check_scan_names(s), handle, true, &frame);
	if (frame.object)
		text = memory_format("given to libc by %s", check_base(frame.object));
	check_frame_free(&frame);
	return text;
}

static int find_loader(const struct check_mapping *m, void *context)
{
	struct check_mapping *loader = context;

	if (!strncmp(check_base(m->path), "ld-", 3)) {
		loader->start = loader->end ? loader->start : m->start;
		loader->end = m->end;
	}
	return 0;
}

/* exit()'s list begins with a function of ld.so; quick_exit()'s list has no such function. */
static bool is_quick(struct check_scan *s, uint64_t at)
{
	struct check_mapping loader = {0};
	struct exit_block block;

	check_mappings(process_of(s)->pid, find_loader, &loader);
	for (int n = 0; n < BLOCKS_MAX && at; n++) {
		if (check_read(process_of(s), at, &block, sizeof(block)) != sizeof(block) || !is_block(s, &block))
			break;
		for (size_t i = 0; i < block.count; i++) {
			uint64_t function = check_scan_demangle(s, block.entry[i].function);

			if (block.entry[i].flavour == EF_CXA && function >= loader.start && function < loader.end)
				return false;
		}
		at = block.next;
	}
	return true;
}

/* list: its first block. */
static void judge_block(struct check_scan *s, uint64_t list, uint64_t at, const struct exit_block *block)
{
	for (size_t i = 0; i < block->count; i++) {
		uint64_t flavour = block->entry[i].flavour;
		uint64_t function = check_scan_demangle(s, block->entry[i].function);
		uint64_t place = at + 16 + 32 * i + 8;
		const char *what;

		if (flavour < EF_ON || !check_scan_hit(s, function) || check_scan_told(s, place))
			continue;
		if (flavour == EF_ON)
			what = "a function given to on_exit";
		else
			what = is_quick(s, list) ? "a function to be called at quick_exit"
						 : "a function to be called at exit";
		check_scan_found(s, CHECK_ATEXIT, s->task->tid, what, place, function,
			flavour == EF_CXA ? giver(s, block->entry[i].library) : NULL);
	}
}

/*
 * Follows a word that may be a list's first pointer. Returns false if it does not lead to blocks, or if they lead back
 * to themselves (that is common in memory full of pointers to pointers).
 */
static bool follow_blocks(struct check_scan *s, uint64_t list)
{
	uint64_t at = list, passed = 0;

	for (int n = 0; n < BLOCKS_MAX && at; n++) {
		struct exit_block block;

		/* The block at the last power of two: in a circle it comes up again. */
		if (at == passed)
			return false;
		if (!(n & (n - 1)))
			passed = at;
		if (check_read(process_of(s), at, &block, sizeof(block)) != sizeof(block) || !is_block(s, &block))
			return false;
		judge_block(s, list, at, &block);
		at = block.next;
	}
	return true;
}

/* ---- keys and fork ---- */

static void judge_key(struct check_scan *s, uint64_t at, uint64_t number, uint64_t destructor)
{
	if (!(number & 1) || number >= 1u << 24 || !check_scan_hit(s, destructor) || check_scan_told(s, at))
		return;
	check_scan_found(
		s, CHECK_KEY_DESTRUCTOR, s->task->tid, "the destructor of a thread-specific key", at, destructor, NULL);
}

static void judge_fork(struct check_scan *s, uint64_t at, const struct fork_entry *entry)
{
	static const char *const what[3] = {"a function to be called before fork",
		"a function to be called after fork in the parent", "a function to be called after fork in the child"};

	for (int i = 0; i < 3; i++)
		if (check_scan_hit(s, entry->function[i]) && !check_scan_told(s, at + 8 * i))
			check_scan_found(s, CHECK_ATFORK, s->task->tid, what[i], at + 8 * i, entry->function[i],
				giver(s, entry->library));
}

/* words: of libc, at this address. Returns how many of them belong to an array of functions for fork. */
static size_t follow_fork(struct check_scan *s, uint64_t at, const uint64_t *words, size_t left)
{
	uint64_t used = words[0], room = left < 3 ? 0 : words[1], last = 0;

	if (used > room || room < FORK_INITIAL || room > FORK_MAX || !is_pointer(words[2]) ||
		(!used && words[2] != at + 24))
		return 0;
	struct fork_entry *entry = memory_resize(NULL, used + 1, sizeof(*entry));
	size_t done = check_read(process_of(s), words[2], entry, used * sizeof(*entry)), result = 3;
	for (size_t i = 0; i < used && result; i++) {
		if (done != used * sizeof(*entry) || (i && entry[i].number <= last))
			result = 0;
		for (int k = 0; k < 3; k++)
			if (entry[i].function[k] >= ADDRESS_END)
				result = 0;
		last = entry[i].number;
	}
	for (size_t i = 0; i < used && result; i++)
		judge_fork(s, words[2] + i * sizeof(*entry), &entry[i]);
	/* The words after the head are its entries, or old entries if the array grew and moved. */
	if (result) {
		result += FORK_INITIAL * sizeof(*entry) / 8;
		s->fork_start = at;
		s->fork_end = at + 8 * result;
	}
	free(entry);
	return result < left ? result : left;
}

/* ---- libc's data ---- */

static void judge_words(struct check_scan *s, struct check_libc_data *data, const uint64_t *words, size_t count)
{
	uint64_t at = data->start;

	for (size_t i = 0; i < count;) {
		size_t fork = follow_fork(s, at + 8 * i, words + i, count - i);

		if (fork) {
			i += fork;
			continue;
		}
		/* The lists' own first pointers are variables that always point to good blocks. */
		if (is_pointer(words[i]) && data->may_be_list[i])
			data->may_be_list[i] = follow_blocks(s, words[i]);
		if (i)
			judge_key(s, at + 8 * i, words[i - 1], words[i]);
		i++;
	}
}

static int take_mapping(const struct check_mapping *m, void *context)
{
	struct libc_lists *l = context;
	struct check_process *process = process_of(l->scan);

	if (m->start != l->before_end || *m->path)
		snprintf(l->before, sizeof(l->before), "%s", m->path);
	l->before_end = m->end;
	if (!m->writable || !m->readable || m->shared || !check_is_libc(check_base(l->before)))
		return 0;
	/* The kernel may join libc's zeroed data with any mapping after it. */
	size_t size = m->end - m->start < LIBC_MAX ? m->end - m->start : LIBC_MAX;
	struct check_libc_data data = {.start = m->start, .size = size};
	data.may_be_list = memory_resize(NULL, size / 8 + 1, 1);
	memset(data.may_be_list, 1, size / 8 + 1);
	process->libc = memory_resize(process->libc, process->libcs + 1, sizeof(data));
	process->libc[process->libcs++] = data;
	return 0;
}

void check_libc_lists_drop(struct check_process *process)
{
	for (size_t i = 0; i < process->libcs; i++)
		free(process->libc[i].may_be_list);
	free(process->libc);
	process->libc = NULL;
	process->libcs = 0;
	process->libc_newest = 0;
}

void check_libc_lists_inherit(struct check_process *process, const struct check_process *parent)
{
	process->libc = memory_resize(NULL, parent->libcs, sizeof(*process->libc));
	process->libcs = parent->libcs;
	process->libc_newest = parent->libc_newest;
	for (size_t i = 0; i < process->libcs; i++) {
		const struct check_libc_data *from = &parent->libc[i];

		process->libc[i] = *from;
		process->libc[i].may_be_list = memory_resize(NULL, from->size / 8 + 1, 1);
		memcpy(process->libc[i].may_be_list, from->may_be_list, from->size / 8 + 1);
	}
}

static void judge_data(struct check_scan *s)
{
	struct check_process *process = process_of(s);

	if (!process->libcs || process->libc_newest != s->message->libc) {
		struct libc_lists lists = {.scan = s};

		check_libc_lists_drop(process);
		check_mappings(process->pid, take_mapping, &lists);
		process->libc_newest = s->message->libc;
	}
	for (size_t i = 0; i < process->libcs; i++) {
		struct check_libc_data *data = &process->libc[i];
		uint64_t *words = memory_resize(NULL, data->size, 1);
		size_t size = check_read(process, data->start, words, data->size);

		judge_words(s, data, words, size / 8);
		free(words);
	}
}

/* ---- for the end of a thread ---- */

/* Names the library that the function was given for: it stays until the function was called. */
static char *keeper(struct check_scan *s, const struct check_task *task, uint64_t map)
{
	uint64_t head[2];
	char *name = check_read(process_of(s), map, head, sizeof(head)) == sizeof(head)
			     ? check_read_text(process_of(s), head[1])
			     : NULL;
	/* The last one that the thread named, if it names none: our own was. */
	bool ours = name && !strncmp(check_base(name), "libxaudit", 9);
	char *text = memory_format("at the end of thread %d, given to libc for %s", (int)task->tid,
		ours			? "no library"
		: !name || !*name ? "the program"
				  : check_base(name));

	free(name);
	return text;
}

static void judge_thread(struct check_scan *s, const struct check_task *task)
{
	struct check_process *process = process_of(s);
	struct thread_entry entry;
	uint64_t at = 0;

	long base = ptrace(PTRACE_PEEKUSER, task->tid, (long)REMOTE_THREAD_AT, 0);
	if (base == -1 || !base || check_read(process, (uint64_t)(base + process->thread_list), &at, 8) != 8)
		return;
	for (int n = 0; n < THREAD_MAX && is_pointer(at); n++) {
		if (check_read(process, at, &entry, sizeof(entry)) != sizeof(entry))
			return;
		uint64_t function = check_scan_demangle(s, entry.function);

		if (check_scan_hit(s, function) && !check_scan_told(s, at))
			check_scan_found(s, CHECK_THREAD_ATEXIT, task->tid, "a function to be called at a thread's end",
				at, function, keeper(s, task, entry.map));
		at = entry.next;
	}
}

void check_libc_lists(struct check_scan *s)
{
	judge_data(s);
	for (struct check_task *t = check_tasks; process_of(s)->thread_list && t; t = t->next)
		if (t->process == process_of(s) && (t == s->task || t->stopped))
			judge_thread(s, t);
}
