/* SPDX-License-Identifier: MIT */
#include "tool/base/rest.h"

#include <stdint.h>
#include <time.h>

#include "tool/base/now.h"

#define REST 20000 /* ns; the kernel adds its timer slack, 50 us */

void tool_rest(void)
{
	static _Thread_local uint64_t last;
	const struct timespec moment = { .tv_nsec = REST };
	const uint64_t now = tool_now();

	if (now - last < TOOL_REST_RUN)
		return;
	nanosleep(&moment, NULL);
	last = tool_now();
}
