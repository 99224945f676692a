/* SPDX-License-Identifier: MIT */
/* How long nobody asks again after failures (runtime/files/backoff.h), by a clock that the test sets. */
#include "runtime/files/backoff.h"

#include "t/lib/tap.h"

#define SECOND 1000000000ll

/* Fails, and returns for how many whole seconds nobody asks. -1: it is not over then either. */
static long long seconds_after(struct backoff *backoff, int64_t *now)
{
	int64_t from = *now;

	backoff_failed(backoff, from, false);
	for (long long n = 1; n <= 1000; n++) {
		*now = from + n * SECOND - 1;
		bool early = backoff_is_over(backoff, *now);
		*now = from + n * SECOND;
		if (early)
			return 0;
		if (backoff_is_over(backoff, *now))
			return n;
	}
	return -1;
}

int main(void)
{
	static const int expected[] = { 4, 8, 16, 32, 64, 128, 256, 256, 256 };
	struct backoff backoff = { 0 };
	int64_t now = 5 * SECOND;

	ok(backoff_is_over(&backoff, 0), "before a failure everybody asks");
	for (unsigned i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		is_int(seconds_after(&backoff, &now), expected[i], "failure %u: nobody asks for %d s", i + 1,
			expected[i]);
	backoff_succeeded(&backoff);
	ok(backoff_is_over(&backoff, now), "after a success everybody asks");
	is_int(seconds_after(&backoff, &now), 4, "and the next failure counts as the first");
	backoff_failed(&backoff, now, true);
	ok(!backoff_is_over(&backoff, INT64_MAX - 1), "one that can't end is for ever");
	return done_testing();
}
