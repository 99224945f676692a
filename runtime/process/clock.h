/* SPDX-License-Identifier: MIT */
/*
 * The clock of events, and pairs that convert it. clock_init() runs in la_version; afterwards everything is read-only
 * but for clock_leave_tsc(). clock_now() and clock_pair() are async-signal-safe and call no libc (but for the vDSO's
 * clock_gettime, by pointer).
 *
 * A process may have lost the TSC by prctl(PR_SET_TSC): then rdtsc raises SIGSEGV, also in the vDSO. If it is so from
 * the start, the clock is CLOCK_MONOTONIC by the system call. A thread may lose it later, while the trace counts in
 * ticks already: from then on ticks are computed from CLOCK_MONOTONIC, at the rate that was measured up to that moment,
 * in all threads; and the trampolines ask tramp_clock() for them.
 */
#ifndef XAUDIT_CLOCK_H
#define XAUDIT_CLOCK_H

#include <stdint.h>
#include <time.h> /* struct timespec */

#include "format/trace.h"

/*
 * wanted: 0 chooses the TSC when the processor calls it invariant. gettime: a fast clock_gettime, as the vDSO's.
 * Returns the clock.
 */
enum trace_clock clock_init(enum trace_clock wanted, int (*gettime)(clockid_t, struct timespec *));

enum trace_clock clock_kind(void);

/* What the trampolines read: TRACE_CLOCK_TSC itself, or tramp_clock(). Any context. */
enum trace_clock clock_source(void);

/*
 * The calling thread is about to lose the TSC. Afterwards no code begins to read it; a thread in the middle of reading
 * it still may, since that thread has the TSC. Waits up to a millisecond, to know the rate. Process lock held. The
 * caller changes the trampolines next.
 */
void clock_leave_tsc(void);

/* Ticks of the event clock. */
uint64_t clock_now(void);

/* The three clocks at one moment, to within some ten ns: the tightest of several tries. */
void clock_pair(struct trace_pair *pair);

/*
 * How many ticks of the event clock that many ns are; of years, any number. Measured over a millisecond or more since
 * the first call: the first one waits.
 */
uint64_t clock_ticks(uint64_t ns);

#endif
