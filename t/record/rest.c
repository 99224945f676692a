/* SPDX-License-Identifier: MIT */
/* What works beside a traced program leaves its processor again and again, and no more often than it says. */
#define _GNU_SOURCE
#include "tool/base/rest.h"

#include <inttypes.h>
#include <sys/resource.h>

#include "t/lib/tap.h"
#include "tool/base/now.h"

#define RESTS 20

/* How often the thread has slept. */
static long slept(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

int main(void)
{
	/* So that all that the loop needs is in memory. */
	tool_rest();
	const long before = slept();
	const uint64_t begun = tool_now();
	uint64_t took = 0;

	while (slept() < before + RESTS && took < 60000000000u) {
		tool_rest();
		took = tool_now() - begun;
	}
	is_int(slept() - before, RESTS, "it rests");
	ok(took >= (RESTS - 1) * (uint64_t)TOOL_REST_RUN, "%d times in %" PRIu64 " ns, not more often", RESTS, took);
	return done_testing();
}
