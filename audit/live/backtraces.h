/* SPDX-License-Identifier: MIT */
/*
 * Which code backtraces can be walked through (runtime/values/backtrace.h): that of every load, traced or not, for
 * which there is an index, as soon as a rule asks for a backtrace. Objects of the loader too: constructors and
 * destructors are called by it. Not the vDSO, which is no file.
 *
 * A load's code stays known until the load is gone, since threads go on in loads that are closed at the exit; or until
 * another load is opened where it was. What is known of an object serves all its loads, and stays for good.
 */
#ifndef XAUDIT_AUDIT_LIVE_BACKTRACES_H
#define XAUDIT_AUDIT_LIVE_BACKTRACES_H

#include "audit/model/object.h"

/*
 * la_objopen, and of the module itself, whose object has no number. To find an index may mean to make one. Process lock
 * not held.
 */
void backtraces_open(struct load *load);

/* The load is gone. Lock held. */
void backtraces_close(struct load *load);

/* A rule that asks for backtraces may have come: of loads that are there, indexes that are kept are used. Lock held. */
void backtraces_look(void);

#endif
