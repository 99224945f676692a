/* SPDX-License-Identifier: MIT */
/*
 * All clocks that times of a trace are converted between, read as close together as can be had: an interrupt between
 * two of them would bend the conversion. Any thread.
 */
#ifndef XAUDIT_TOOL_BASE_CLOCK_PAIR_H
#define XAUDIT_TOOL_BASE_CLOCK_PAIR_H

#include <stdint.h>
#include <time.h>

#include "format/trace.h"
#include "tool/base/now.h"
#include "x86_64/cpu.h"

static inline struct trace_pair clock_pair(void)
{
	struct trace_pair best = {0};
	uint64_t smallest = UINT64_MAX;

	for (int i = 0; i < 32; i++) {
		uint64_t before = cpu_ticks();
		uint64_t mono = tool_now();
		uint64_t between = cpu_ticks();
		uint64_t real = tool_now_on(CLOCK_REALTIME);
		uint64_t after = cpu_ticks();

		if (after - before < smallest) {
			smallest = after - before;
			best = (struct trace_pair){
				.ticks = before + (between - before) / 2, .mono = mono, .real = real};
		}
	}
	return best;
}

#endif
