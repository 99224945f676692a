/* SPDX-License-Identifier: MIT */
/*
 * The clock of events, and pairs that convert it. clock_init() runs in la_version; after it everything is read-only.
 * clock_now() and clock_pair() are async-signal-safe and call no libc (but for the vDSO's clock_gettime, by pointer).
 */
#ifndef XAUDIT_CLOCK_H
#define XAUDIT_CLOCK_H

#include <stdint.h>
#include <time.h> /* struct timespec */

#include "runtime/trace.h"

/* wanted: 0 chooses the TSC when the processor calls it invariant. gettime: clock_gettime of whoever has a fast one. Returns the clock. */
enum trace_clock clock_init(enum trace_clock wanted, int (*gettime)(clockid_t, struct timespec *));

enum trace_clock clock_kind(void);

/* Ticks of the event clock. */
uint64_t clock_now(void);

/* The three clocks at one moment, to within some ten ns: the tightest of several tries. */
void clock_pair(struct trace_pair *pair);

/* How many ticks of the event clock so many ns are, up to 2^31 of them. Measured over a millisecond or more since the first call: the first one waits. */
uint64_t clock_ticks(uint64_t ns);

#endif
