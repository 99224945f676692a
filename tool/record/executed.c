/* SPDX-License-Identifier: MIT */
#include "tool/record/executed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/trace.h"
#include "tool/base/tool.h"
#include "tool/read/api/xaudit-read.h"
#include "tool/record/run.h"

#define NAMES 12 /* that the line has; the others are counted */

static struct {
	char name[48];
	uint64_t count;
	uint32_t why;
} names[NAMES];
static uint64_t all, others;

void record_executed_look(struct xaudit_read_process *process)
{
	const struct xaudit_read_executed *executed;

	for (uint32_t n = 0; (executed = xaudit_read_process_executed(process, n)); n++) {
		int i = 0;
		while (i < NAMES && names[i].count &&
			(names[i].why != executed->why || strcmp(names[i].name, executed->name) != 0))
			i++;
		all += executed->count;
		if (i == NAMES || !executed->why) {
			others += executed->count;
			continue;
		}
		snprintf(names[i].name, sizeof(names[i].name), "%s", executed->name);
		names[i].count += executed->count;
		names[i].why = executed->why;
	}
}

void record_executed_say(void)
{
	static const char *const why[] = {
		[TRACE_UNTRACED_ENVIRONMENT] = "without LD_AUDIT in the environment that it got "
					       "(--follow=always adds it)",
		[TRACE_UNTRACED_RIGHTS] = "with other rights than its caller's, where ld.so takes no audit module",
		[TRACE_UNTRACED_STATIC] = "statically linked, or for another C library",
	};
	char line[1600] = "";
	size_t n = 0;

	if (!all)
		return;
	for (uint32_t w = 1; w < sizeof(why) / sizeof(*why); w++) {
		const char *between = "";
		for (int i = 0; i < NAMES && n < sizeof(line); i++) {
			if (!names[i].count || names[i].why != w)
				continue;
			n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s", *between ? between : n ? "; " : "",
				names[i].name);
			if (names[i].count > 1 && n < sizeof(line))
				n += (size_t)snprintf(line + n, sizeof(line) - n, " (%" PRIu64 ")", names[i].count);
			between = ", ";
		}
		if (*between && n < sizeof(line))
			n += (size_t)snprintf(line + n, sizeof(line) - n, ": %s", why[w]);
	}
	if (others && n < sizeof(line))
		snprintf(line + n, sizeof(line) - n, "%s%" PRIu64 " others", n ? "; " : "", others);
	record_error("%" PRIu64 " executed program%s ran untraced: %s", all, all == 1 ? "" : "s", line);
}
