/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/locks/show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/locks/chain.h"
#include "tool/locks/functions.h"
#include "tool/locks/names.h"
#include "tool/locks/order.h"
#include "tool/locks/ways.h"

/* ---- orders: what has cost most comes first; of equal ones what came first ---- */

static int by_number(uint64_t one, uint64_t other)
{
	return one == other ? 0 : one > other ? -1 : 1;
}

static int by_sum(const struct locks_sum *one, const struct locks_sum *other)
{
	return by_number(one->total, other->total);
}

static int by_place_in_list(uint32_t one, uint32_t other)
{
	return (one > other) - (one < other);
}

static int order_locks(const void *one, const void *other, void *context)
{
	const uint32_t *a = one, *b = other;
	const struct locks *locks = context;
	int order = by_sum(&locks->lock[*a].wait, &locks->lock[*b].wait);

	if (!order)
		order = by_sum(&locks->lock[*a].hold, &locks->lock[*b].hold);
	return order ? order : by_place_in_list(*a, *b);
}

/* By what they made others wait, and by what they waited themselves. */
static int order_holders(const void *one, const void *other, void *context)
{
	const uint32_t *a = one, *b = other;
	const struct locks_holder *first = &((const struct locks *)context)->holder[*a],
				  *second = &((const struct locks *)context)->holder[*b];
	int order = by_number(first->waited, second->waited);

	if (!order)
		order = by_sum(&first->wait, &second->wait);
	return order ? order : by_place_in_list(*a, *b);
}

static int order_places(const void *one, const void *other, void *context)
{
	const uint32_t *a = one, *b = other;
	const struct locks *locks = context;
	int order = locks_compare_places(&locks->place[*a], &locks->place[*b]);

	return order ? order : by_place_in_list(*a, *b);
}

static int order_chains(const void *one, const void *other, void *context)
{
	const uint32_t *a = one, *b = other;
	const struct locks_chain *first = &((const struct locks_chains *)context)->chain[*a],
				 *second = &((const struct locks_chains *)context)->chain[*b];

	if (first->circle != second->circle)
		return first->circle ? -1 : 1;
	if (first->waits != second->waits)
		return first->waits > second->waits ? -1 : 1;
	int order = by_number(first->longest, second->longest);
	return order ? order : by_place_in_list(*a, *b);
}

/* ---- lists ---- */

bool locks_inversion_is_sure(const struct locks_view *view, uint32_t number)
{
	const struct locks_order *order = view->reading.locks.order;
	const struct order_inversion *inversion = &order->inversion[number];

	for (uint32_t i = 0; i < inversion->edges; i++) {
		const struct locks_lock *lock = &view->reading.locks.lock[order->edge[inversion->edge[i]].from];
		if (!lock->made && !locks_name(&view->reading, lock).library)
			return false;
	}
	return true;
}

/* Those that are sure come first. */
static void list_inversions(struct locks_view *view)
{
	uint32_t all = view->reading.locks.order->inversions;

	view->inversion = memory_zeroed(all + 1, sizeof(*view->inversion));
	for (unsigned sure = 2; sure--;)
		for (uint32_t i = 0; i < all; i++)
			if (locks_inversion_is_sure(view, i) == sure)
				view->inversion[view->inversions++] = i;
}

void locks_view_make(struct locks_view *view)
{
	struct locks *locks = &view->reading.locks;

	view->lock = memory_zeroed(locks->locks + 1, sizeof(*view->lock));
	view->condition = memory_zeroed(locks->locks + 1, sizeof(*view->condition));
	view->holder = memory_zeroed(locks->holders + 1, sizeof(*view->holder));
	view->place = memory_zeroed(locks->places + 1, sizeof(*view->place));
	view->chain = memory_zeroed(CHAINS_MOST, sizeof(*view->chain));
	for (uint32_t i = 0; i < locks->locks; i++) {
		const struct locks_lock *lock = &locks->lock[i];
		if (!lock->calls && !lock->hold.count && !lock->posts)
			continue;
		if (lock->kind == LOCKS_CONDITION || lock->kind == LOCKS_SEMAPHORE)
			view->condition[view->conditions++] = i;
		else
			view->lock[view->locks++] = i;
	}
	/* Conditions are waited for: that is what they are for. Who waited for a lock has a row. */
	for (uint32_t i = 0; i < locks->places; i++)
		if (locks->place[i].calls && (locks->place[i].wait.count || locks->place[i].waited) &&
			locks->lock[locks->place[i].lock].kind != LOCKS_CONDITION)
			view->place[view->places++] = i;
	for (uint32_t i = 0; i < locks->holders; i++)
		if ((locks->holder[i].waited || locks->holder[i].wait.count) &&
			locks->lock[locks->holder[i].lock].kind != LOCKS_CONDITION)
			view->holder[view->holders++] = i;
	for (uint32_t i = 0; i < locks->chains->chains; i++)
		if (!chain_is_part(locks->chains, i))
			view->chain[view->chains++] = i;
	qsort_r(view->lock, view->locks, sizeof(*view->lock), order_locks, locks);
	qsort_r(view->condition, view->conditions, sizeof(*view->condition), order_locks, locks);
	qsort_r(view->holder, view->holders, sizeof(*view->holder), order_holders, locks);
	qsort_r(view->place, view->places, sizeof(*view->place), order_places, locks);
	qsort_r(view->chain, view->chains, sizeof(*view->chain), order_chains, locks->chains);
	list_inversions(view);
}

void locks_view_free(struct locks_view *view)
{
	free(view->lock);
	free(view->condition);
	free(view->holder);
	free(view->place);
	free(view->chain);
	free(view->inversion);
	locks_reading_free(&view->reading);
	locks_names_free();
}

/* ---- words ---- */

const char *locks_thread_name(const struct locks_view *view, uint32_t number)
{
	const struct locks_thread *thread = &view->reading.locks.thread[number];
	const struct xaudit_read_process *process = view->reading.process[thread->process].process;
	uint32_t threads = xaudit_read_threads(view->reading.trace);

	for (uint32_t i = 0; i < threads; i++) {
		const struct xaudit_read_thread *read = xaudit_read_thread(view->reading.trace, i);
		if (read->tid == thread->tid && read->process == process)
			return read->name;
	}
	return "";
}

struct locks_path locks_path_shown(const struct locks_view *view, const struct locks_path *path)
{
	struct locks_path shown = { { 0 }, 0 };
	const struct xaudit_read_object *before = NULL;

	for (uint32_t i = 0; i < path->functions; i++) {
		const struct xaudit_read_object *object = locks_function_of(view, path->function[i])->object;
		if (object != before || strncmp(tool_base(object->path), "libc.so", strlen("libc.so")) != 0)
			shown.function[shown.functions++] = path->function[i];
		before = object;
	}
	return shown;
}

const char *locks_frame_name(const struct xaudit_read_frame *frame, char buf[LOCKS_FRAME_SIZE])
{
	struct xaudit_read_symbol symbol;

	if (xaudit_read_frame_symbol(frame, &symbol) && symbol.name)
		return symbol.name;
	snprintf(buf, LOCKS_FRAME_SIZE, "%s%s0x%" PRIx64, frame->object ? tool_base(frame->object->path) : "",
		frame->object ? "+" : "", frame->offset);
	return buf;
}

static bool begins_with_any(const char *text, const char *const *with)
{
	while (*with && strncmp(text, *with, strlen(*with)) != 0)
		with++;
	return *with;
}

/* What tells nothing of the program: the libraries of C and C++. */
static bool is_of_library(const struct xaudit_read_frame *frame)
{
	static const char *const libraries[] = {
		"libc.so", "libpthread.so", "libstdc++.so", "libc++.so", "ld-linux", NULL
	};

	return frame->object && begins_with_any(tool_base(frame->object->path), libraries);
}

/* ... and functions of theirs that the compiler puts into the program. */
static bool is_wrapper(const char *name)
{
	static const char *const names[] = { "_ZNSt", "_ZSt", "_ZNKSt", "_ZL18__gthread", "_ZL20__gthread",
		"_ZL21__gthread", "_ZN9__gnu_cxx", "__gthread_", NULL };

	return begins_with_any(name, names);
}

/* The innermost caller that is the program's own; else the first that has code of it: the rest may be inlined there. */
static const struct xaudit_read_frame *own_frame(const struct xaudit_read_stack *stack)
{
	const struct xaudit_read_frame *first = NULL;
	char buf[LOCKS_FRAME_SIZE];

	for (uint32_t i = 0; stack && i < stack->frames; i++) {
		if (is_of_library(stack->frame[i]))
			continue;
		if (!is_wrapper(locks_frame_name(stack->frame[i], buf)))
			return stack->frame[i];
		first = first ? first : stack->frame[i];
	}
	return first;
}

const char *locks_place_name(const struct locks_view *view, uint32_t number, char buf[LOCKS_FRAME_SIZE])
{
	const struct locks_origin *place = number == LOCKS_NONE ? NULL : &view->reading.place[number];

	const struct xaudit_read_frame *frame = place ? own_frame(place->stack) : NULL;

	if (frame)
		return locks_frame_name(frame, buf);
	if (!place || place->caller == LOCKS_NONE)
		return NULL;
	return locks_function_of(view, place->caller)->name;
}

const char *locks_function_name(const struct locks_view *view, uint32_t number)
{
	const struct locks_meaning *meaning = number < view->reading.meanings ? &view->reading.meaning[number] : NULL;

	/* pthread_spin_init() is pthread_spin_unlock(). */
	if (meaning && meaning->function && meaning->function->kind == LOCKS_SPIN &&
		meaning->function->act == LOCKS_UNLOCK)
		return "pthread_spin_unlock";
	return locks_function_of(view, number)->name;
}

const char *locks_kind_word(enum locks_kind kind)
{
	static const char *const words[LOCKS_KINDS] = { "mutex", "rwlock", "spin", "condition", "semaphore" };

	return words[kind];
}

const struct locks_unseen_word locks_unseen_words[] = {
	{ LOCKS_GLIBC, "glibc", "glibc's" },
	{ LOCKS_GO, "go", "Go's" },
	{ LOCKS_RUST, "rust", "Rust's" },
	{ LOCKS_OPENMP, "openmp", "OpenMP's" },
	{ LOCKS_JAVA, "java", "Java's" },
	{ LOCKS_GLIB, "glib", "GLib's" },
	{ LOCKS_QT, "qt", "Qt's" },
	{ 0 },
};
