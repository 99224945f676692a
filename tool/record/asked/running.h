/* SPDX-License-Identifier: MIT */
/*
 * Finds calls of traced programs that have not returned after the time of an action `running longer`, from outside, in
 * the memory of their processes (runtime/values/running.h), while these go on and know nothing of it. This part knows
 * no threads and no waiting.
 *
 * A call is known by its slot and the clock at its entry. How long it has been running is measured by the clock here,
 * from the first look that finds it: so a call that returns before the time is never taken for one that does not, and
 * one that goes on is found within a tenth of the time more, or 10 ms. (Where looking itself takes long, as with
 * thousands of threads, it is done less often: a quarter of the time here at most.) For each action it counts once.
 * Calls that a forked child has from its parent are the parent's. Of a thread's own stack the thread must be there.
 *
 * What is read there was written by a program that an attacker may have taken over. So all counts have bounds, a
 * process that leads to more reads than real ones do is left for good, an address is only ever handed to pread() of
 * /proc/PID/mem, and a process that names another one's number makes this user look into what this user may look into.
 * What makes no sense is left out. A wrong answer costs snapshots, or gives some that nobody wanted, up to the most of
 * asked.h.
 *
 * It keeps a descriptor for each process that is watched, RUNNING_PROCESSES at most, and up to 5 MiB. One thread.
 */
#ifndef XAUDIT_TOOL_RECORD_ASKED_RUNNING_H
#define XAUDIT_TOOL_RECORD_ASKED_RUNNING_H

#include <stdint.h>

struct trace_head;

#define RUNNING_PROCESSES 256
#define RUNNING_CALLS	  32768 /* that are open at a time, and count */

/* speaker: who tells of errors; it stays. */
void running_begin(const char *speaker);

/* The process of that head, at that place of the family, is to be watched, if it wants that. */
void running_add(const char *family, const struct trace_head *head, uint32_t place);

/*
 * Looks, if it is time. due() is called for each process with the bits 1 << number of ask.h of the snapshots that its
 * calls have come to. Returns the time of the next look; UINT64_MAX: nobody is watched. now: CLOCK_MONOTONIC, ns.
 */
uint64_t running_look(uint64_t now, void (*due)(const char *family, uint32_t place, uint32_t numbers));

#endif
