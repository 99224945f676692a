/* SPDX-License-Identifier: MIT */
/* The state of the process (process.h). For process.c and process_counters.c alone. */
#ifndef XAUDIT_RUNTIME_PROCESS_STATE_H
#define XAUDIT_RUNTIME_PROCESS_STATE_H

#include <stdint.h>

#include "format/trace.h"
#include "runtime/base/identity.h"
#include "runtime/files/family.h"
#include "runtime/files/records.h"
#include "runtime/process/process.h"

/* The state of one process. Wiped by fork. */
struct process {
	uint32_t lock; /* see lock.h */
	uint64_t owner; /* cpu_thread() of the lock's holder. Relaxed: a thread looks for its own alone */
	uint32_t state;
	uint32_t pid;
	uint32_t clock_busy; /* as lock; who finds it held does not wait */
	struct process_snapshots snapshots;
	int known;		/* the two below were looked at */
	int torn;		/* a thread was describing things when this process was forked */
	int left;		/* left_line is to be noted, when there is a head */
	int has_left;		/* the family that it was forked in, or had */
	uint64_t refused;	/* clock when it last found no place for a head; 0: it did not ask, or has one */
	long mark;		/* of its memory (pool.h); 0 or -errno: there is none */
	uint32_t spare; /* a place that was taken for its head; 0: none */
	uint32_t half;	/* the upper half of the head's place: 0: taken; 1, or 2 with its blocks: free. Exchanged */
	uint32_t refused_cause; /* enum trace_lost */
	struct trace_head *head;
	struct trace_head *elsewhere; /* not NULL: what is lost without a head is counted there */
	uint32_t place; /* of the head */
	uint32_t threads; /* that have a number */
	uint64_t stream_bytes;
	struct records records;
	uint8_t identity[IDENTITY_SIZE] __attribute__((aligned(8)));
	uint64_t lost[TRACE_LOST_COUNT]; /* events before there was a head to count them in */
	char folder[FAMILY_PATH];
	char why[PROCESS_WHY]; /* for ctl: why nothing is recorded, "" if it is */
};

extern struct process *process;

#endif
