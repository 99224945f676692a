/* SPDX-License-Identifier: MIT */
/*
 * How long ld.so takes to map objects for a dlopen, and to unmap them for a dlclose: from LA_ACT_ADD, or LA_ACT_DELETE,
 * to LA_ACT_CONSISTENT, with the part of it that is ours. There is no other way to know: dlopen and dlclose look at
 * their return address, so their returns are not traced.
 *
 * What it leaves out comes before or after: the search for the file, destructors, constructors, and, up to glibc 2.40,
 * relocation.
 *
 * ld.so's lock is held in all of these, so one such work is under way at most. In the child of another thread's fork
 * the thread that began it is missing: its work is forgotten.
 */
#ifndef XAUDIT_AUDIT_START_LOADER_TIME_H
#define XAUDIT_AUDIT_START_LOADER_TIME_H

#include <stdint.h>

/* LA_ACT_ADD, or LA_ACT_DELETE (unmaps), after the first LA_ACT_CONSISTENT. */
void loader_time_begin(int unmaps);

/* Around each callback's own work. The first returns what the second wants. */
uint64_t loader_time_pause(void);
void loader_time_resume(uint64_t paused);

/* LA_ACT_CONSISTENT came at `now`: writes the record, if there is a trace. The process lock is held. */
void loader_time_end(uint64_t now);

#endif
