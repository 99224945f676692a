/* SPDX-License-Identifier: MIT */
#include "tool/read/events/cuts.h"

#include <stdlib.h>

#include "runtime/base/search.h"
#include "tool/read/damage/memory.h"

bool read_cuts_by(const struct read_change *change)
{
	switch (change->what) {
	case TRACE_CHANGE_DISABLED:
	case TRACE_CHANGE_STOPPED:
	case TRACE_CHANGE_MODE:
	case TRACE_CHANGE_THROTTLED:
		return true;
	default:
		return false;
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

bool read_cuts_find(struct read_cuts *cuts, const struct read_process *process)
{
	cuts->count = 0;
	cuts->at = read_memory_zeroed(process->family->damage, process->changes + 1ul, sizeof(*cuts->at));
	if (!cuts->at)
		return false;
	for (uint32_t i = 0; i < process->changes; i++)
		if (read_cuts_by(&process->change[i]))
			cuts->at[cuts->count++] = process->change[i].clock;
	qsort(cuts->at, cuts->count, sizeof(*cuts->at), by_value);
	return true;
}

void read_cuts_free(struct read_cuts *cuts)
{
	free(cuts->at);
	*cuts = (struct read_cuts){ 0 };
}

bool read_cuts_between(const struct read_cuts *cuts, uint64_t start, uint64_t end)
{
	uint32_t next = SEARCH(i, 0, cuts->count, cuts->at[i] <= start);

	return next < cuts->count && cuts->at[next] <= end;
}
