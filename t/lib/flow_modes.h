/* SPDX-License-Identifier: MIT */
/*
 * Functions and calls for the scenarios of flow.h where a mode or a filter decides what is recorded. To be included by
 * one file.
 */
#ifndef XAUDIT_T_LIB_FLOW_MODES_H
#define XAUDIT_T_LIB_FLOW_MODES_H

#include <setjmp.h>

#include "runtime/record/filter.h"
#include "runtime/record/recorder.h"
#include "t/lib/flow.h"
#include "t/lib/flow_xray.h"

#define RING (CORE_RING_CHUNKS * FLOW_CHUNK)

__attribute__((unused)) static void start_with(struct recorder_options recorder, struct filter_options filter)
{
	start_xray();
	recorder_init(&recorder);
	if (filter_init(&filter))
		_exit(98);
}

/* ---- functions ---- */

__attribute__((unused)) static jmp_buf env;

__attribute__((unused)) static long call_2(long x)
{
	return KEEP(F(2)(x));
}

__attribute__((unused)) static long call_3(long x)
{
	return KEEP(F(3)(x));
}

#define LONG_NS 100000000 /* no quick function takes as long, unless it is interrupted: see flow_most */

__attribute__((unused)) static long slow(long x)
{
	uint64_t begun = core_now_ns(), until = begun + LONG_NS + LONG_NS / 10;

	while (core_now_ns() < until)
		usleep(1000);
	outcome->slow += core_now_ns() - begun;
	return x + 1;
}

__attribute__((unused)) static long leaf_then_slow(long x)
{
	return KEEP(F(3)(x)) + KEEP(F(4)(x));
}

__attribute__((unused)) static long jump(long x)
{
	longjmp(env, (int)x);
}

/* 1 calls 2 calls 3; 4 takes more than LONG_NS; 5 calls 3, then 4. */
__attribute__((unused)) static void chain(void)
{
	f[1] = core_traced(TRAMP_INTERCEPT, 1, call_2);
	f[2] = core_traced(TRAMP_INTERCEPT, 2, call_3);
	f[3] = core_traced(TRAMP_INTERCEPT, 3, leaf);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, slow);
	f[5] = core_traced(TRAMP_INTERCEPT, 5, leaf_then_slow);
	f[6] = core_traced(TRAMP_POINT, 6, leaf);
	xray_body = f[3].call;
	xray_target = f[3].call;
}

__attribute__((unused)) static void calls(void)
{
	expect(F(1)(5), 6);
	expect(F(6)(5), 6);
	expect(xray_function(5), 6);
	expect(xray_tail_function(5), 6);
	expect(F(5)(5), 12);
}

#define ALL "E1 E2 E3 X3 X2 X1 P6 E20 E3 X3 X20 E21 T21 E3 X3 E5 E3 X3 E4 X4 X5"

#endif
