/* SPDX-License-Identifier: MIT */
/*
 * What formats of merged stacks (folded, callgrind, pprof, and speedscope for many calls) have in common: a tree of all
 * calls, with the times that each function had of its own, by the functions around it; and a tree per thread, where the
 * format tells threads apart. Memory is that of the tree: up to MERGED_MOST nodes, some 130 MB; what goes beyond is in
 * the time of the calls around it.
 *
 * Calls that are left out since they are too short (--min) are in the time of those around them. One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_STACKS_MERGED_H
#define XAUDIT_TOOL_EXPORT_STACKS_MERGED_H

#include "tool/export/format.h"
#include "tool/show/calls/cct.h"

#define MERGED_MOST   (1u << 20)
#define MERGED_THREAD (1u << 31) /* what a node has for a function, and the number of the thread */

struct merged_thread {
	struct xaudit_read_process *process;
	uint32_t tid;
	uint32_t node; /* below the root */
	const char *name; /* the newest one, after merged_end(); NULL: none is known */
};

struct merged {
	struct cct cct; /* its times are ticks: cct_convert() */
	struct merged_thread *thread;
	uint32_t threads;
	struct hash table; /* of threads */
};

/* by_thread: nodes below the root are threads. The memory must stay where it is. */
void merged_begin(struct merged *merged, const struct export *export, bool by_thread);

/* A call that leaves. */
void merged_take(struct merged *merged, const struct export_call *call);

/* All are taken. Says how many calls have no nodes of their own, if there are any. */
void merged_end(struct merged *merged, const struct export *export);

void merged_free(struct merged *merged);

/* The thread of calls that were taken which are in no others; NULL: there were none. */
const struct merged_thread *merged_thread(
	const struct merged *merged, const struct xaudit_read_process *process, uint32_t tid);

/* The name of a thread's process, and one for both: "app 12, worker 13". The caller frees them. */
char *merged_process_name(const struct merged_thread *thread);
char *merged_name(const struct merged_thread *thread);

#endif
