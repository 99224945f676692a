/* SPDX-License-Identifier: MIT */
#include "tool/show/many.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/show.h"
#include "tool/show/show_trace.h"

bool many_open(struct many *many, uint32_t pid)
{
	many->trace = memory_zeroed(many->traces, sizeof(struct xaudit_read_trace *));
	for (uint32_t i = 0; i < many->traces; i++) {
		many->trace[i] = show_trace(many->folder[i], pid);
		if (!many->trace[i])
			return false;
	}
	return true;
}

bool many_have_sched(const struct many *many)
{
	bool sched = true;

	for (uint32_t i = 0; i < many->traces; i++)
		sched &= xaudit_read_trace_info(many->trace[i])->sched != 0;
	return sched;
}

static void leave_out(struct many *many, uint32_t number)
{
	uint32_t after = --many->traces - number;

	xaudit_read_close(many->trace[number]);
	memmove(&many->trace[number], &many->trace[number + 1], after * sizeof(*many->trace));
	memmove(&many->folder[number], &many->folder[number + 1], after * sizeof(*many->folder));
}

/* Is all of one trace in another one? Its calls would be counted twice. Says so, and what comes of it. */
static bool is_twice(
	const char *command, const struct many *many, uint32_t number, uint32_t other, const char *so)
{
	if (!xaudit_read_is_part(many->trace[number], many->trace[other]))
		return false;
	bool same = xaudit_read_is_part(many->trace[other], many->trace[number]);
	tool_error(command, "%s is %s %s: %s", many->folder[number], same ? "the same trace as" : "a part of",
		many->folder[other], so);
	return true;
}

void many_leave_out_twins(const char *command, struct many *many)
{
	static const char so[] = "it is counted once";

	for (uint32_t i = 1; i < many->traces; i++)
		for (uint32_t k = 0; k < i; k++) {
			bool later = is_twice(command, many, i, k, so);
			if (!later && !is_twice(command, many, k, i, so))
				continue;
			leave_out(many, later ? i : k);
			i = 0; /* the others may be in what stays */
			break;
		}
}

void many_say_twins(const char *command, const struct many *many)
{
	static const char so[] = "so there may be no difference";

	for (uint32_t i = 1; i < many->traces; i++)
		for (uint32_t k = 0; k < i; k++)
			if (is_twice(command, many, i, k, so) || is_twice(command, many, k, i, so))
				return;
}

int many_close(struct many *many, int status)
{
	for (uint32_t i = 0; many->trace && i < many->traces && many->trace[i]; i++) {
		int damaged = show_end_trace(many->trace[i]);
		status = status ? status : damaged;
	}
	free(many->trace);
	free(many->folder);
	*many = (struct many){ 0 };
	return status;
}
