/* SPDX-License-Identifier: MIT */
/*
 * Functions whose return must not be intercepted: they return twice, or never, or ask who called them. Pure
 * function; any context.
 */
#ifndef XAUDIT_AUDIT_NOINTERCEPT_H
#define XAUDIT_AUDIT_NOINTERCEPT_H

/* name: a symbol's name, without version. */
int nointercept_name(const char *name);

enum nointercept_watch { WATCH_NONE, WATCH_LANDED, WATCH_JUMP, WATCH_PRCTL, WATCH_SYSCALL, WATCH_LIMIT, WATCH_LOCK };

/*
 * Functions whose calls tell that frames are gone (TRAMP_LANDED) or going (TRAMP_JUMP), or that may take the TSC or
 * system calls from us (TRAMP_PRCTL, TRAMP_SYSCALL), or find too much mapped (TRAMP_LIMIT, TRAMP_LOCK).
 */
enum nointercept_watch nointercept_watch(const char *name);

#endif
