/* SPDX-License-Identifier: MIT */
/*
 * A first look at a file's section names: nearly every library has no compile-time sites, and the look at those must
 * cost a few system calls, not a mapping. Pure function of the file; no heap; any thread.
 */
#ifndef XAUDIT_AUDIT_SITE_HINT_H
#define XAUDIT_AUDIT_SITE_HINT_H

/*
 * Which of the kinds that sections announce (mask of 1 << enum trace_kind) can the file behind fd have sites of? All of
 * them when the names can't be told this way; site_scan() knows better then.
 */
unsigned site_hint(int fd);

#endif
