/* SPDX-License-Identifier: MIT */
/*
 * What tool/read/sched/sched.c makes of the file, and sched_cursor.c reads. A thread's records lie one after another,
 * each as the time since the one before (the first: since head.start), by the file's clock, and what it is, as a number
 * of 7 bits per byte, the lowest first; the highest bit is set in all bytes but the last.
 */
#ifndef XAUDIT_TOOL_READ_SCHED_RECORDS_H
#define XAUDIT_TOOL_READ_SCHED_RECORDS_H

#include "tool/base/hash.h"
#include "tool/read/sched/sched.h"

#define SCHED_WHAT_BITS 3

struct sched_thread {
	uint32_t pid, tid;
	uint8_t *data;
	size_t size, room;
	uint64_t last;	/* time of its last record */
	uint64_t total; /* of SCHED_TOTAL, ns */
};

/* A stretch in which nothing is known of any thread: since <= t < time. */
struct sched_stretch {
	uint64_t since, time;
};

struct read_sched {
	struct read_folder *folder;
	struct sched_head head;
	struct read_sched_facts facts;
	struct sched_thread *thread;
	uint32_t threads;
	struct hash by_tid; /* of thread[]'s pid and tid */
	struct sched_stretch *loss; /* sorted, apart; the first begins at 0, the last ends at UINT64_MAX */
	size_t losses;
	struct read_clock clock; /* of the trace folder: TSC to CLOCK_MONOTONIC */
};

#endif
