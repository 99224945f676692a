/* SPDX-License-Identifier: MIT */
/*
 * Leaves its processor to others again and again: for what works long beside a traced program. Else a thread of that
 * may wait for the processor until the kernel's next tick (4 ms with HZ=250), even if another processor is idle. A low
 * priority doesn't help: who has begun keeps the processor for its slice (doc/measurements.md). Any thread.
 */
#ifndef XAUDIT_TOOL_REST_H
#define XAUDIT_TOOL_REST_H

#define TOOL_REST_RUN 250000 /* ns */

/* Sleeps for a moment, if the thread has not done so for TOOL_REST_RUN. */
void tool_rest(void);

#endif
