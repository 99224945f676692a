/* SPDX-License-Identifier: MIT */
#include "tool/read/clock.h"

#include <stdlib.h>    /* qsort */
#include <string.h>
#include <time.h>      /* clock_gettime */

#include "tool/base/proc.h"
#include "x86_64/cpu.h"

#define READING_NS  100	      /* how far the two readings of a pair may lie apart */
#define RATE_LOW    0.05      /* ns per tick of a 20 GHz TSC */
#define RATE_HIGH   100.0     /* ... and of one of 10 MHz */

static int by_ticks(const void *a, const void *b)
{
	const struct trace_pair *x = a, *y = b;

	return x->ticks < y->ticks ? -1 : x->ticks > y->ticks;
}

static double rate(const struct trace_pair *a, const struct trace_pair *b)
{
	return (double)(b->mono - a->mono) / (double)(b->ticks - a->ticks);
}

/* Takes the best of a few: interrupts only ever make a pair worse. */
static struct trace_pair pair_now(void)
{
	struct trace_pair best = { 0 };
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 10; i++) {
		struct timespec mono;
		uint64_t before = cpu_ticks();
		clock_gettime(CLOCK_MONOTONIC, &mono);
		uint64_t after = cpu_ticks();
		if (after - before >= shortest)
			continue;
		shortest = after - before;
		best.ticks = before + shortest / 2;
		best.mono = (uint64_t)mono.tv_sec * 1000000000u + (uint64_t)mono.tv_nsec;
	}
	return best;
}

/* Leaves out pairs that can't be true, so that the rest rises on both clocks. */
static unsigned sort_out(struct trace_pair *pair, unsigned n)
{
	unsigned kept = 0;

	qsort(pair, n, sizeof(*pair), by_ticks);
	for (unsigned i = 0; i < n; i++) {
		if (!pair[i].ticks || !pair[i].mono || pair[i].mono >> 62)
			continue;
		if (kept) {
			struct trace_pair *before = &pair[kept - 1];
			if (pair[i].ticks == before->ticks || pair[i].mono <= before->mono)
				continue;
		}
		pair[kept++] = pair[i];
	}
	return kept;
}

/*
 * The error of the rate: how far the pairs in between lie off the line, or what a reading may be off, over the whole.
 */
static double estimate(const struct trace_pair *pair, unsigned n)
{
	double off = 2 * READING_NS, all = (double)(pair[n - 1].mono - pair[0].mono),
	       slope = rate(&pair[0], &pair[n - 1]);

	for (unsigned i = 1; i + 1 < n; i++) {
		double at = (double)(pair[i].ticks - pair[0].ticks) * slope;
		double d = at - (double)(pair[i].mono - pair[0].mono);
		d = d < 0 ? -d : d;
		off = d > off ? d : off;
	}
	return off / all * 1e6;
}

#define OFF_NS 1000000.0 /* how far a pair may lie off the line; time namespaces differ by seconds */
#define OFF_RATE 1e-3	 /* and for each ns of distance: CLOCK_MONOTONIC is slewed by less */

unsigned read_clock_of_one_line(const struct trace_pair *line, struct trace_pair *pair, unsigned n)
{
	double span = (double)(line[1].mono - line[0].mono), slope = rate(&line[0], &line[1]);
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++) {
		double ticks = (double)(int64_t)(pair[i].ticks - line[0].ticks);
		double distance = (double)(int64_t)(pair[i].mono - line[0].mono), off = ticks * slope - distance;
		double length = ticks < 0 ? -ticks * slope : ticks * slope;
		if ((off < 0 ? -off : off) <= OFF_NS + length * (OFF_RATE + 10 * READING_NS / span))
			pair[kept++] = pair[i];
	}
	return kept;
}

bool read_clock_is_span(const struct trace_pair *first, const struct trace_pair *last)
{
	if (!first->ticks || !first->mono || last->mono >> 62 || last->ticks <= first->ticks ||
		last->mono <= first->mono)
		return false;
	double ns = rate(first, last);
	return ns >= RATE_LOW && ns <= RATE_HIGH;
}

void read_clock_setup(struct read_clock *clock, uint32_t source, struct trace_pair *pair, unsigned n, bool fresh)
{
	struct trace_pair with[2];

	*clock = (struct read_clock){ .source = source, .mult = 1ull << READ_CLOCK_SHIFT };
	if (source == TRACE_CLOCK_MONOTONIC) {
		clock->valid = true;
		clock->pairs = n;
		return;
	}
	n = sort_out(pair, n);
	clock->pairs = n;
	if (n) {
		with[0] = pair[0];
		with[1] = pair[n - 1];
		if (fresh) {
			struct trace_pair now = pair_now();
			if (now.mono > with[1].mono && read_clock_is_span(&with[0], &now)) {
				with[1] = now;
				clock->fresh = true;
			}
		}
		clock->ticks = with[0].ticks;
		clock->mono = with[0].mono;
	}
	if (!n || !read_clock_is_span(&with[0], &with[1]))
		return;
	clock->valid = true;
	clock->mult = (uint64_t)(((unsigned __int128)(with[1].mono - with[0].mono) << READ_CLOCK_SHIFT) /
		(with[1].ticks - with[0].ticks));
	if (clock->fresh) {
		clock->pairs++;
		clock->ppm = estimate(with, 2);
	} else {
		clock->ppm = estimate(pair, n);
	}
}

bool read_clock_is_of_this_boot(const char *boot_id)
{
	char now[sizeof(((struct trace_head *)0)->boot_id)];

	if (proc_read(now, sizeof(now), "/proc/sys/kernel/random/boot_id") <= 0)
		return false;
	now[strcspn(now, "\n")] = '\0';
	return *boot_id && !strncmp(now, boot_id, strcspn(boot_id, "\n"));
}
