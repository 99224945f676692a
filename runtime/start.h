/* SPDX-License-Identifier: MIT */
/*
 * Puts the parts of the runtime together: those below know those above by pointers alone, which are given to them here.
 */
#ifndef XAUDIT_RUNTIME_START_H
#define XAUDIT_RUNTIME_START_H

/* la_version, behind process_init(), before anything can make an event. One thread. */
void start_parts(void);

#endif
