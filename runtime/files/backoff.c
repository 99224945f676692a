/* SPDX-License-Identifier: MIT */
#include "runtime/files/backoff.h"

bool backoff_is_over(const struct backoff *backoff, int64_t now)
{
	return now >= __atomic_load_n(&backoff->again, __ATOMIC_RELAXED); /* relaxed: a hint */
}

void backoff_failed(struct backoff *backoff, int64_t now, bool for_ever)
{
	int64_t wait = __atomic_load_n(&backoff->waited, __ATOMIC_RELAXED) * 2; /* relaxed: a hint */

	wait = wait < BACKOFF_FIRST ? BACKOFF_FIRST : wait > BACKOFF_LAST ? BACKOFF_LAST : wait;
	/* Relaxed, both: hints. */
	__atomic_store_n(&backoff->waited, wait, __ATOMIC_RELAXED);
	__atomic_store_n(&backoff->again, for_ever ? INT64_MAX : now + wait, __ATOMIC_RELAXED);
}

void backoff_succeeded(struct backoff *backoff)
{
	__atomic_store_n(&backoff->waited, 0, __ATOMIC_RELAXED); /* relaxed: a hint */
}
