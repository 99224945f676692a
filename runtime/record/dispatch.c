/* SPDX-License-Identifier: MIT */
#include "runtime/record/dispatch.h"

#include "x86_64/contract.h" /* dispatch_table */

void (*dispatch_table[TRAMP_EVENTS])(void);
void (*dispatch_watched[TRAMP_EVENTS])(void);
uint32_t tramp_sampling;

static enum dispatch_set now = DISPATCH_IDLE;
static int own_labels, coarse;

void dispatch_own_labels(void)
{
	own_labels = 1;
}

void dispatch_coarse(void)
{
	coarse = 1;
}

const char *dispatch_label(void)
{
	return coarse ? tramp_return_coarse : tramp_return_tsc;
}

enum dispatch_set dispatch_now(void)
{
	/* Relaxed: as of the table. */
	return __atomic_load_n(&now, __ATOMIC_RELAXED);
}

/* One of the sets of trampolines, for a clock. */
#define SET(name)                                                                                                      \
	{ tramp_intercept_##name, tramp_intercept_own_##name, tramp_return_own_##name, tramp_point_##name,             \
		tramp_xray_entry_##name, tramp_xray_exit_##name, tramp_xray_tail_##name, tramp_xray_exit_idle_##name,  \
		tramp_xray_tail_idle_##name, tramp_probe_##name, tramp_probe_saved_##name }

struct clock_set {
	void (*intercept)(void), (*intercept_own)(void), (*return_own)(void), (*point)(void);
	void (*xray_entry)(void), (*xray_exit)(void), (*xray_tail)(void);
	void (*xray_exit_idle)(void), (*xray_tail_idle)(void), (*probe)(void), (*probe_saved)(void);
};

void dispatch_use(enum dispatch_set set, enum trace_clock clock)
{
	static const struct clock_set sets[] = { SET(tsc), SET(coarse), SET(mono) };
	const struct clock_set *by = &sets[clock != TRACE_CLOCK_TSC ? 2 : coarse];
	void (*use[TRAMP_EVENTS])(void) = {
		[TRAMP_LANDED] = tramp_landed,
		[TRAMP_JUMP] = tramp_jump,
		[TRAMP_CALLER] = tramp_caller,
		[TRAMP_RETURN] = by->return_own,
		[TRAMP_CFA] = tramp_cfa,
		[TRAMP_PRCTL] = tramp_prctl,
		[TRAMP_SYSCALL] = tramp_syscall,
		[TRAMP_LIMIT] = tramp_limit,
		[TRAMP_LOCK] = tramp_lock,
		[TRAMP_RIGHTS] = tramp_rights,
		[TRAMP_EXEC] = tramp_exec,
	};

	use[TRAMP_CUSTOM] = set == DISPATCH_RECORD ? tramp_custom : tramp_custom_pass;
	use[TRAMP_TYPED] = set == DISPATCH_RECORD ? tramp_typed : tramp_typed_pass;
	use[TRAMP_PROBE] = set == DISPATCH_RECORD  ? by->probe
			   : set == DISPATCH_COUNT ? tramp_probe_count
			   : set == DISPATCH_WATCH ? tramp_probe_watch
						   : tramp_probe_pass;
	void (*const watched[TRAMP_EVENTS])(void) = {
		[TRAMP_INTERCEPT] = own_labels ? by->intercept_own : by->intercept,
		[TRAMP_POINT] = by->point,
		[TRAMP_XRAY_ENTRY] = by->xray_entry,
		[TRAMP_PROBE] = by->probe_saved,
	};
	if (set == DISPATCH_RECORD) {
		use[TRAMP_INTERCEPT] = own_labels ? by->intercept_own : by->intercept;
		use[TRAMP_POINT] = by->point;
		use[TRAMP_XRAY_ENTRY] = by->xray_entry;
		use[TRAMP_XRAY_EXIT] = by->xray_exit;
		use[TRAMP_XRAY_TAIL] = by->xray_tail;
	} else {
		use[TRAMP_INTERCEPT] = set == DISPATCH_COUNT ? tramp_count : tramp_pass;
		use[TRAMP_POINT] = use[TRAMP_INTERCEPT];
		use[TRAMP_XRAY_ENTRY] = set == DISPATCH_COUNT ? tramp_xray_count : tramp_xray_pass;
		if (set == DISPATCH_WATCH) {
			use[TRAMP_INTERCEPT] = tramp_watch_intercept;
			use[TRAMP_POINT] = tramp_watch_point;
			use[TRAMP_XRAY_ENTRY] = tramp_xray_watch;
		}
		use[TRAMP_XRAY_EXIT] = by->xray_exit_idle;
		use[TRAMP_XRAY_TAIL] = by->xray_tail_idle;
	}
	/* Relaxed, as below: which of them comes first does not matter, since all are right at any time. */
	for (int i = 0; i < TRAMP_EVENTS; i++)
		if (watched[i])
			__atomic_store_n(&dispatch_watched[i], watched[i], __ATOMIC_RELAXED);
	for (int i = 0; i < TRAMP_EVENTS; i++)
		/* C11: relaxed. Code that reads an entry needs no other data that we wrote; x86: plain mov. */
		__atomic_store_n(&dispatch_table[i], use[i], __ATOMIC_RELAXED);
	/* Relaxed, as above, both. */
	__atomic_store_n(&tramp_sampling, set == DISPATCH_RECORD, __ATOMIC_RELAXED);
	__atomic_store_n(&now, set, __ATOMIC_RELAXED);
}
