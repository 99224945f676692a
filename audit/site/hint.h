/* SPDX-License-Identifier: MIT */
/*
 * A first look at a file's section names: nearly every library has no compile-time sites, and to find that out must
 * cost a few system calls, not a mapping. Pure function of the file; no heap; any thread.
 */
#ifndef XAUDIT_AUDIT_SITE_HINT_H
#define XAUDIT_AUDIT_SITE_HINT_H

/*
 * Of which kinds that sections announce (mask of 1 << enum trace_kind) can the file of this descriptor have sites? All
 * of them when the names can't be read this way; site_scan() then finds out.
 */
unsigned site_hint(int fd);

#endif
