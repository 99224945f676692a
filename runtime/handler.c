/* SPDX-License-Identifier: MIT */
#include "runtime/handler.h"

#include "x86_64/tramp.h" /* tramp_intercept_tsc */

void (*handler_table[TRAMP_EVENTS])(void);

void handler_use_recorder(enum trace_clock clock)
{
	static void (*const recorder[][TRAMP_EVENTS])(void) = {
		[TRACE_CLOCK_TSC] = {
			[TRAMP_INTERCEPT] = tramp_intercept_tsc,
			[TRAMP_POINT] = tramp_point_tsc,
			[TRAMP_XRAY_ENTRY] = tramp_xray_entry_tsc,
			[TRAMP_XRAY_EXIT] = tramp_xray_exit_tsc,
			[TRAMP_XRAY_TAIL] = tramp_xray_tail_tsc,
			[TRAMP_LANDED] = tramp_landed,
			[TRAMP_JUMP] = tramp_jump,
		},
		[TRACE_CLOCK_MONOTONIC] = {
			[TRAMP_INTERCEPT] = tramp_intercept_mono,
			[TRAMP_POINT] = tramp_point_mono,
			[TRAMP_XRAY_ENTRY] = tramp_xray_entry_mono,
			[TRAMP_XRAY_EXIT] = tramp_xray_exit_mono,
			[TRAMP_XRAY_TAIL] = tramp_xray_tail_mono,
			[TRAMP_LANDED] = tramp_landed,
			[TRAMP_JUMP] = tramp_jump,
		},
	};

	for (int i = 0; i < TRAMP_EVENTS; i++)
		/* C11: relaxed. Whoever reads an entry needs no other data that we wrote; x86: plain mov. */
		__atomic_store_n(&handler_table[i], recorder[clock][i], __ATOMIC_RELAXED);
}
