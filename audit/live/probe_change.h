/* SPDX-License-Identifier: MIT */
/*
 * Probes that are set and taken away while the process runs: what CONTROL_PROBES (runtime/control.h) asks for. The tool
 * writes the patches that it is answered, in their order, and tells by CONTROL_WRITTEN that it has.
 *
 * Answered is the difference between what each load's list wants and what the bytes say, so that a tool that died, or
 * left patches out, leaves nothing to be repaired. For each window that is to go: its jump, then the padding's. For
 * each that is to come: guards, the padding's jump, its own. What goes comes first, but for windows whose instructions
 * others take over: these go right before those, chained to them, so that a probe that is there stays while the window
 * that it is to be in can't be. A jump of which only the stub changes is one patch. Guards
 * are the stubs of former windows that lead to places between the bytes that are written. Stubs that no jump leads to
 * any more are guards of their own at the end: if nothing was left out, nobody is in them, and they are freed. Where a
 * window's stub may lie at few addresses, and the former one is there still, it waits for that: the answer says so
 * (control_result.again), and the tool asks again in the same stop, so that no event is missed.
 *
 * All functions: process lock held, by the thread that obeys. General registers only, no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_PROBE_CHANGE_H
#define XAUDIT_AUDIT_LIVE_PROBE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/arena.h"
#include "runtime/control.h"

/* Takes what the request brings along, and answers the patches, in the arena. Returns 0 or -errno. */
int probe_change(struct control_request *request, struct arena *arena);

/* Nothing would be recorded: no probe is wanted any more. */
void probe_cancel(void);

/* The tool has written them; all: none was left out. */
void probe_changed(bool all);

#endif
