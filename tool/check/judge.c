/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/check/judge.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool/base/memory.h"
#include "tool/base/now.h"
#include "tool/check/finding.h"
#include "tool/check/growth.h"
#include "tool/check/libc_lists.h"
#include "tool/check/pointers.h"
#include "tool/check/report.h"
#include "tool/check/scan.h"
#include "tool/check/stack.h"
#include "tool/check/state.h"
#include "tool/check/stayed.h"
#include "tool/check/tasks.h"
#include "tool/show/term/names.h"

/* How many bytes of a stack are searched, and how many are kept of the stack of the thread that unloads. */
#define STACK_SEARCH (4u << 20)
#define STACK_KEEP   (64u << 10)

/* How many unloads of a process keep the stack of their thread. */
#define STACKS_KEPT 256

static bool is_text(const struct check_unload *unload, uint64_t address)
{
	return address >= unload->at.text_start && address < unload->at.text_end;
}

/*
 * Can a frame of this stack be in the text? Then the program counter or a word on the stack is an address of the text.
 * If a signal handler runs on a stack of its own, the frames that it interrupted lie elsewhere, but then the address
 * that handlers return to is on this stack.
 */
static bool worth_unwinding(const struct check_snapshot *s, const struct check_unload *unload, const uint64_t *restorer)
{
	if (is_text(unload, s->regs[REMOTE_DWARF_PC]))
		return true;
	for (size_t i = 0; i + 8 <= s->size; i += 8) {
		uint64_t word;

		memcpy(&word, s->stack + i, 8);
		if (is_text(unload, word))
			return true;
		for (int k = 0; word && k < CHECK_SIGNALS && restorer[k]; k++)
			if (word == restorer[k])
				return true;
	}
	return false;
}

static const struct check_frame *frame_inside(const struct check_stack *stack, const struct check_unload *unload)
{
	for (size_t i = 0; i < stack->count; i++)
		if (is_text(unload, stack->frame[i].address))
			return &stack->frame[i];
	return NULL;
}

/* Copies each address once, and then a 0: nearly always there is one alone. */
static void compact_restorers(const struct check_message *message, uint64_t *restorer)
{
	int n = 0;

	for (int i = 0; i < CHECK_SIGNALS; i++) {
		uint64_t r = message->restorer[i];
		int k = 0;

		while (k < n && restorer[k] != r)
			k++;
		if (r && k == n)
			restorer[n++] = r;
	}
	if (n < CHECK_SIGNALS)
		restorer[n] = 0;
}

/* *names: made when the first stack is to be unwound. */
static void judge_thread(struct check_task *task, struct check_task *closer, struct check_unload *unload,
	const uint64_t *restorer, struct check_names **names)
{
	struct check_snapshot *s = check_snapshot(task, STACK_SEARCH);
	struct check_process *process = closer->process;

	if (!s || !worth_unwinding(s, unload, restorer)) {
		check_snapshot_free(s);
		return;
	}
	struct check_stack stack;
	if (!*names)
		*names = check_names_begin(process, NULL);
	check_unwind(*names, s, &stack);
	const struct check_frame *inside = frame_inside(&stack, unload);
	if (inside) {
		bool self = task == closer;
		struct check_frame named;

		check_name(*names, inside->address, inside->exact, &named);
		struct check_finding *f = check_finding(CHECK_THREAD_INSIDE, process, task->tid, unload->path,
			self ? "%s is unloaded by a thread that is inside it, in %s"
			     : "%s is unloaded while a thread is inside it, in %s",
			check_base(unload->path), named.function ? names_shown(named.function) : "unnamed code");
		check_frame_free(&named);
		if (self)
			check_finding_closer(f, *names, s, "inside, and unloading:");
		else
			check_finding_stack(f, *names, s, "inside:");
		if (!self && unload->by)
			check_finding_closer(f, *names, unload->by, "unloaded by");
		check_found(f);
	}
	check_stack_free(&stack);
	check_snapshot_free(s);
}

static void note_file(struct check_unload *unload)
{
	struct stat st;

	if (!unload->path || stat(unload->path, &st) < 0)
		return;
	unload->device = st.st_dev;
	unload->inode = st.st_ino;
	unload->changed = (uint64_t)st.st_mtim.tv_sec;
}

/* Forgets ranges that the module gave up, and the oldest stacks when there are too many. */
static void forget_old(struct check_process *process)
{
	if (process->unloads > CHECK_RANGES) {
		size_t drop = process->unloads - CHECK_RANGES;

		for (size_t i = 0; i < drop; i++)
			check_unload_release(process->unload[i]);
		memmove(process->unload, process->unload + drop, CHECK_RANGES * sizeof(*process->unload));
		process->unloads = CHECK_RANGES;
	}
	if (process->unloads > STACKS_KEPT) {
		struct check_unload *old = process->unload[process->unloads - STACKS_KEPT - 1];

		check_snapshot_free(old->by);
		old->by = NULL;
	}
}

static void on_closing(struct check_task *task, const struct check_message *message)
{
	struct check_process *process = task->process;
	struct check_unload *unload = memory_zeroed(1, sizeof(*unload));
	uint64_t restorer[CHECK_SIGNALS];

	unload->users = 1;
	unload->at.load = message->load;
	unload->at.base = message->base;
	unload->at.start = message->start;
	unload->at.end = message->end;
	unload->at.text_start = message->text_start;
	unload->at.text_end = message->text_end;
	compact_restorers(message, restorer);
	unload->path = check_read_path(process, message->path);
	if (!unload->path)
		unload->path = memory_format("(a library at 0x%" PRIx64 ")", message->base);
	note_file(unload);
	process->unload = memory_resize(process->unload, process->unloads + 1, sizeof(*process->unload));
	process->unload[process->unloads++] = unload;
	forget_old(process);
	check_stop_others(task);
	unload->by = check_snapshot(task, STACK_KEEP);
	if (message->text_end) {
		struct check_names *names = NULL;

		for (struct check_task *t = check_tasks; t; t = t->next)
			if (t->process == process && (t == task || t->stopped))
				judge_thread(t, task, unload, restorer, &names);
		if (names)
			check_names_end(names);
	}
	check_go_others(task);
}

/* Name of a place in the unloaded library, for people. */
static char *place(struct check_names *names, const struct check_unload *unload, uint64_t address)
{
	struct check_frame frame;
	char *text;

	check_name(names, address, true, &frame);
	if (frame.function && frame.offset)
		text = memory_format("%s+0x%" PRIx64, names_shown(frame.function), frame.offset);
	else
		text = frame.function ? memory_format("%s", names_shown(frame.function))
				      : memory_format("offset 0x%" PRIx64, address - unload->at.base);
	check_frame_free(&frame);
	return text;
}

static void judge_signals(
	struct check_task *task, const struct check_unload *unload, const struct check_message *message)
{
	for (int i = 0; i < CHECK_SIGNALS; i++) {
		if (!is_text(unload, message->handler[i]))
			continue;
		struct check_names *names = check_names_begin(task->process, unload);
		char *function = place(names, unload, message->handler[i]);
		const char *abbreviation = sigabbrev_np(i + 1);
		char *signal = abbreviation ? memory_format("SIG%s", abbreviation) : memory_format("signal %d", i + 1);
		struct check_finding *f = check_finding(CHECK_SIGNAL_HANDLER, task->process, task->tid, unload->path,
			"the handler of %s is %s of %s, which is unloaded", signal, function, check_base(unload->path));
		if (unload->by)
			check_finding_closer(f, names, unload->by, "unloaded by");
		check_found(f);
		free(signal);
		free(function);
		check_names_end(names);
	}
}

static void judge_pointers(
	struct check_task *task, const struct check_unload *unload, const struct check_message *message)
{
	struct check_scan scan;

	if (!check_scan_begin(&scan, task, unload, message))
		return;
	check_libc_lists(&scan);
	if (check_options.scan)
		check_pointers(&scan);
	check_scan_end(&scan);
}

static void on_unloaded(struct check_task *task, const struct check_message *message)
{
	struct check_process *process = task->process;
	struct check_unload *unload = NULL;

	for (size_t i = process->unloads; i-- > 0 && !unload;)
		if (process->unload[i]->at.load == message->load && !process->unload[i]->when)
			unload = process->unload[i];
	if (!unload)
		return;
	check_stayed_gone(process, message->load);
	check_counts.unloads++;
	check_counts.missed += (message->flags & CHECK_MISSED) != 0;
	check_counts.unreserved += !(message->flags & CHECK_RESERVED);
	unload->when = tool_now();
	process->cost += message->cost;
	if (unload->at.text_end) {
		judge_signals(task, unload, message);
		check_stop_others(task);
		judge_pointers(task, unload, message);
		check_go_others(task);
	}
	/* When several libraries are unloaded together, the first is the one that was closed. */
	if (check_options.cycles && process->last_event != CHECK_UNLOADED)
		check_growth_sample(process, unload);
	/* For the program, the time since the unload begins when it goes on. */
	unload->when = tool_now();
}

void check_judge(struct check_task *task, const struct check_message *message)
{
	if (message->event == CHECK_CLOSING)
		on_closing(task, message);
	else
		on_unloaded(task, message);
}
