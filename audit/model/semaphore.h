/* SPDX-License-Identifier: MIT */
/*
 * Semaphores of the program's own probes (USDT): words of its data that count who listens. One is raised once for each
 * window that stands and has probes with it, by the process itself: so it is right in forked children, and after any
 * tool's death.
 *
 * Which word it is says a file, which may be damaged: what can be none is left alone. That is what does not lie in the
 * object's writable data as a whole, what ld.so makes read-only once it has relocated it, and what a store would lock
 * the processor's bus for. The program may have changed its memory since it was loaded.
 *
 * Process lock held. General registers only, no libc.
 */
#ifndef XAUDIT_AUDIT_MODEL_SEMAPHORE_H
#define XAUDIT_AUDIT_MODEL_SEMAPHORE_H

#include <stdint.h>

#include "audit/model/object.h"

/* The run-time address of a probe's semaphore; 0: it has none. */
uint64_t semaphore_of(const struct load *load, const struct plan_probe *probe);

/* Counts us in all of a window's, or no longer (by -1); notes that in the window. */
void semaphore_raise(const struct load *load, struct probe_window *window, int by);

#endif
