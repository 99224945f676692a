/* SPDX-License-Identifier: MIT */
/*
 * Leaves its processor to others again and again: for what works long beside a traced program, which else may wait for
 * that processor while another is idle, until the kernel's next tick (4 ms with HZ=250). A low priority or
 * sched_yield() don't help: who has run less than the others is the next in any case. Any thread.
 */
#ifndef XAUDIT_TOOL_REST_H
#define XAUDIT_TOOL_REST_H

#define TOOL_REST_RUN 250000 /* ns */

/* Sleeps for a moment, if the thread has not done so for TOOL_REST_RUN. */
void tool_rest(void);

#endif
