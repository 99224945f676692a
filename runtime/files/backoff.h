/* SPDX-License-Identifier: MIT */
/*
 * How long nobody asks again after a failure: 4 seconds, after the next failure 8, and so on up to 256; after a success
 * the next failure counts as the first one.
 *
 * Protocol. Any number of threads, without a lock: the words are hints, each read and written on its own. A thread that
 * comes between two writes asks once too often, or waits once more. Forked children go on with what they inherit. Times
 * are ns of a clock that the caller reads, and that never goes back.
 */
#ifndef XAUDIT_BACKOFF_H
#define XAUDIT_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#define BACKOFF_FIRST 4000000000ll
#define BACKOFF_LAST  (64 * BACKOFF_FIRST)

/* All 0: nobody has failed yet. */
struct backoff {
	int64_t again;	/* when to ask again; INT64_MAX: never */
	int64_t waited; /* how long that was from the last failure; 0: there was none since the last success */
};

bool backoff_is_over(const struct backoff *backoff, int64_t now);

/* for_ever: it is known that no later question will have an answer. */
void backoff_failed(struct backoff *backoff, int64_t now, bool for_ever);

void backoff_succeeded(struct backoff *backoff);

#endif
