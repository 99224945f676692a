/* SPDX-License-Identifier: MIT */
#include "runtime/dispatch.h"

#include "x86_64/contract.h" /* dispatch_table */

void (*dispatch_table[TRAMP_EVENTS])(void);

static enum dispatch_set now = DISPATCH_IDLE;
static int own_labels;

void dispatch_own_labels(void)
{
	own_labels = 1;
}

enum dispatch_set dispatch_now(void)
{
	/* Relaxed: as of the table. */
	return __atomic_load_n(&now, __ATOMIC_RELAXED);
}

void dispatch_use(enum dispatch_set set, enum trace_clock clock)
{
	int tsc = clock == TRACE_CLOCK_TSC;
	void (*own)(void) = tsc ? tramp_intercept_own_tsc : tramp_intercept_own_mono;
	void (*use[TRAMP_EVENTS])(void) = {
		[TRAMP_LANDED] = tramp_landed,
		[TRAMP_JUMP] = tramp_jump,
		[TRAMP_CALLER] = tramp_caller,
		[TRAMP_RETURN] = tsc ? tramp_return_own_tsc : tramp_return_own_mono,
		[TRAMP_CFA] = tramp_cfa,
		[TRAMP_PRCTL] = tramp_prctl,
		[TRAMP_SYSCALL] = tramp_syscall,
		[TRAMP_LIMIT] = tramp_limit,
		[TRAMP_LOCK] = tramp_lock,
	};

	use[TRAMP_CUSTOM] = set == DISPATCH_RECORD ? tramp_custom : tramp_custom_pass;
	use[TRAMP_TYPED] = set == DISPATCH_RECORD ? tramp_typed : tramp_typed_pass;
	if (set == DISPATCH_RECORD) {
		use[TRAMP_INTERCEPT] = own_labels ? own : tsc ? tramp_intercept_tsc : tramp_intercept_mono;
		use[TRAMP_POINT] = tsc ? tramp_point_tsc : tramp_point_mono;
		use[TRAMP_XRAY_ENTRY] = tsc ? tramp_xray_entry_tsc : tramp_xray_entry_mono;
		use[TRAMP_XRAY_EXIT] = tsc ? tramp_xray_exit_tsc : tramp_xray_exit_mono;
		use[TRAMP_XRAY_TAIL] = tsc ? tramp_xray_tail_tsc : tramp_xray_tail_mono;
	} else {
		use[TRAMP_INTERCEPT] = use[TRAMP_POINT] = set == DISPATCH_COUNT ? tramp_count : tramp_pass;
		use[TRAMP_XRAY_ENTRY] = set == DISPATCH_COUNT ? tramp_xray_count : tramp_xray_pass;
		use[TRAMP_XRAY_EXIT] = tsc ? tramp_xray_exit_idle_tsc : tramp_xray_exit_idle_mono;
		use[TRAMP_XRAY_TAIL] = tsc ? tramp_xray_tail_idle_tsc : tramp_xray_tail_idle_mono;
	}
	for (int i = 0; i < TRAMP_EVENTS; i++)
		/* C11: relaxed. Code that reads an entry needs no other data that we wrote; x86: plain mov. */
		__atomic_store_n(&dispatch_table[i], use[i], __ATOMIC_RELAXED);
	/* Relaxed, as above. */
	__atomic_store_n(&now, set, __ATOMIC_RELAXED);
}
