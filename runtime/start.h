/* SPDX-License-Identifier: MIT */
/*
 * Connects the parts of the runtime: lower parts call higher ones by pointers alone, which are given to them here.
 */
#ifndef XAUDIT_RUNTIME_START_H
#define XAUDIT_RUNTIME_START_H

/* la_version, after process_init(), before any code can make an event. One thread. */
void start_parts(void);

#endif
