/* SPDX-License-Identifier: MIT */
/*
 * Converts the clock of events (ticks) to CLOCK_MONOTONIC.
 *
 * Moments that were read on all clocks (struct trace_pair) give the rate: those in the process's head, those of `xaudit
 * record`, and, if these don't suffice and the trace is of this boot, one that is taken now: then each reading gives
 * other times, by a ns or so. Between the first and the last pair the conversion is a straight line. The readings of a
 * pair may lie a few ns apart; the longer the time between pairs, the less that matters. If every
 * process ended by exit(), all events lie between its first and last pair, so times are as exact as the pairs, however
 * short the processes were. Other processes have events up to 2^31 ticks behind their last pair, since threads renew it
 * only then.
 * The line is that of the longest time between two pairs of one process, or of `xaudit record`. Pairs of other time
 * namespaces lie off it and are left out, so all times of a trace are on the clock of one namespace.
 */
#ifndef XAUDIT_TOOL_READ_CLOCK_H
#define XAUDIT_TOOL_READ_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"

#define READ_CLOCK_SHIFT	  56
/* Pairs that lie closer together give too bad a rate: for what may lie behind the last one, and if nothing does. */
#define READ_CLOCK_SHORTEST_NS 1000000
#define READ_CLOCK_INSIDE_NS   10000
#define READ_CLOCK_BAD_PPM     10000.0 /* what is worse than this is told as damage */

struct read_clock {
	uint32_t source;   /* enum trace_clock */
	bool valid;	   /* false: there are no usable pairs; one tick is taken for one ns */
	bool fresh;	   /* one of the pairs was taken by this reader */
	uint64_t ticks;	   /* a moment in ticks ... */
	uint64_t mono;	   /* ... and on CLOCK_MONOTONIC, ns */
	uint64_t mult;	   /* ns per tick << READ_CLOCK_SHIFT */
	unsigned pairs;
	double ppm;	   /* estimated error of the rate, in millionths; 0: exact */
};

/* Length of a time in ticks, in ns. */
static inline uint64_t read_clock_span(const struct read_clock *clock, uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ticks * clock->mult + (1ull << (READ_CLOCK_SHIFT - 1))) >>
			  READ_CLOCK_SHIFT);
}

/* A moment in ticks, as ns on CLOCK_MONOTONIC. */
static inline uint64_t read_clock_time(const struct read_clock *clock, uint64_t ticks)
{
	/* In damaged traces it may lie beyond all that 64 bits hold; XAUDIT_READ_UNKNOWN is not a time. */
	if (ticks >= clock->ticks) {
		unsigned __int128 after = ((unsigned __int128)(ticks - clock->ticks) * clock->mult +
			(1ull << (READ_CLOCK_SHIFT - 1))) >> READ_CLOCK_SHIFT;
		return after < UINT64_MAX - 1 - clock->mono ? clock->mono + (uint64_t)after : UINT64_MAX - 1;
	}
	uint64_t before = read_clock_span(clock, clock->ticks - ticks);
	return before < clock->mono ? clock->mono - before : 0;
}

/*
 * Where processes differ in their rates, times are added up in units of 2^-8 ns. Rounded down, so that calls in a call
 * never have more than it: 0.002 ns of each get lost on average. 64 bits hold 2 years.
 */
#define READ_CLOCK_UNIT_BITS 8
#define READ_CLOCK_UNIT_MULT (1ull << (READ_CLOCK_SHIFT - READ_CLOCK_UNIT_BITS)) /* mult of a clock of such ticks */

static inline uint64_t read_clock_units(const struct read_clock *clock, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * clock->mult >> (READ_CLOCK_SHIFT - READ_CLOCK_UNIT_BITS));
}

/* Do two clocks convert with the same rate, so that their ticks may be added up? */
static inline bool read_clock_same_rate(const struct read_clock *a, const struct read_clock *b)
{
	return a->mult == b->mult;
}

/*
 * May the two be pairs of one process? Not if a writer was killed in one, or the rate is none that processors have.
 */
bool read_clock_is_span(const struct trace_pair *first, const struct trace_pair *last);

/*
 * In a time namespace CLOCK_MONOTONIC has an offset, but the TSC has not. So a pair of another namespace lies on
 * another line. Of n pairs those are kept that lie on the line through the two, as far as that line is known. Returns
 * how many.
 */
unsigned read_clock_of_one_line(const struct trace_pair *line, struct trace_pair *pair, unsigned n);

/*
 * Sets up the clock from n pairs (which are sorted in place; pairs that can't be true are left out). fresh: they give
 * no good rate, but the trace is of this boot: the first of them and a pair taken now do.
 */
void read_clock_setup(struct read_clock *clock, uint32_t source, struct trace_pair *pair, unsigned n, bool fresh);

/* Is boot_id, of a head, that of the running system? */
bool read_clock_is_of_this_boot(const char *boot_id);

#endif
