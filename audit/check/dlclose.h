/* SPDX-License-Identifier: MIT */
/*
 * `xaudit check`: watching dlclose, to learn of libraries that stay after the last one. Between check.c and
 * audit/check/dlclose.c; contexts as in check.h. Calls of dlclose are bound to a function of ours, by la_symbind64, and
 * where ld.so does not ask there, by writing the slots.
 */
#ifndef XAUDIT_AUDIT_CHECK_DLCLOSE_H
#define XAUDIT_AUDIT_CHECK_DLCLOSE_H

#include "audit/check/check.h"

/* ---- check.c ---- */

/* Tells the tracer. No lock held. */
void check_speak(struct check_message *message);

/* Tells of what was unmapped. locked: ld.so's lock is held. */
void check_tell_unloaded(int locked);

/* ---- audit/check/dlclose.c ---- */

/* The first LA_ACT_CONSISTENT. Returns 0, or -1 when it can't be found out which libraries stay. *thread_list: as in
 * struct check_message. */
int check_dlclose_start(int64_t *thread_list);

/* Is this thread in a dlclose that we saw begin? */
int check_dlclose_active(void);

/* Writes the slots of what was opened and is relocated. ld.so's lock is held, or the program has one thread. */
void check_dlclose_bind(void);

/* la_objclose */
void check_dlclose_forget(const struct load *load);

#endif
