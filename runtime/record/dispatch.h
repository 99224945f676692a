/* SPDX-License-Identifier: MIT */
/*
 * The dispatch table: where every stub's gate jumps to, one entry per event type (x86_64/tramp.h). One for the process.
 *
 * Entries are addresses of trampolines, which never go away; storing one is one aligned 8-byte store, so a thread that
 * passes a gate meanwhile takes the old or the new entry, and any mixture of two sets is right: an open call ends the
 * same way in all. Written in la_version and under the process lock. Handlers of the program
 * (runtime/handlers/handlers.h), which may be unloaded, are called by the trampolines and guarded by the epoch; they
 * never stand in this table.
 */
#ifndef XAUDIT_RUNTIME_DISPATCH_H
#define XAUDIT_RUNTIME_DISPATCH_H

#include "format/trace.h" /* enum trace_clock */

enum dispatch_set {
	DISPATCH_RECORD, /* events with times */
	DISPATCH_COUNT,	/* calls are counted */
	DISPATCH_IDLE,	/* nothing is recorded; open calls still end */
	DISPATCH_WATCH, /* as IDLE, but what has TRAMP_STARTS comes to tramp_values_*(), as if it were recorded */
};

/*
 * From the next dispatch_use() on, return addresses have labels of their own (x86_64/labels.h): for good, since the
 * other set does not know such labels. Process lock held.
 */
void dispatch_own_labels(void);

/*
 * From the next dispatch_use() on, the TSC is read for one event in TRAMP_COARSE_EVENTS, while it is the clock. Before
 * the first event.
 */
void dispatch_coarse(void);

/* The label of the calls that are open, if they have none of their own, while the TSC is the clock. */
const char *dispatch_label(void);

/* Points every event at one set of trampolines, for this clock. */
void dispatch_use(enum dispatch_set set, enum trace_clock clock);

/* The set that was chosen last, for events that no trampoline makes. Any context. */
enum dispatch_set dispatch_now(void);

#endif
