/* SPDX-License-Identifier: MIT */
/*
 * Binding dladdr and its like, and mprotect, to ours (audit/live/dladdr.h), and finding the real ones. In ld.so's
 * callbacks.
 */
#ifndef XAUDIT_AUDIT_BIND_DLADDR_BIND_H
#define XAUDIT_AUDIT_BIND_DLADDR_BIND_H

#include <stdint.h>

#include "audit/model/object.h"

/* la_objopen: the base namespace's libc has the real ones. ld.so's lock. */
void dladdr_note(const struct load *load);

/* What to bind to instead of the function of that name in `to`: ours, or address itself. Any context. */
uint64_t dladdr_through(const struct load *to, const char *name, uint64_t address);

#endif
