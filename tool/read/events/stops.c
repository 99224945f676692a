/* SPDX-License-Identifier: MIT */
#include "tool/read/events/stops.h"

#include <stdlib.h>

#include "runtime/base/search.h"
#include "tool/read/damage/memory.h"

bool read_stops_by(const struct read_change *change)
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

bool read_stops_find(struct read_stops *stops, const struct read_process *process)
{
	stops->count = 0;
	stops->at = read_memory_zeroed(process->family->damage, process->changes + 1ul, sizeof(*stops->at));
	if (!stops->at)
		return false;
	for (uint32_t i = 0; i < process->changes; i++)
		if (read_stops_by(&process->change[i]))
			stops->at[stops->count++] = process->change[i].clock;
	qsort(stops->at, stops->count, sizeof(*stops->at), by_value);
	return true;
}

void read_stops_free(struct read_stops *stops)
{
	free(stops->at);
	*stops = (struct read_stops){ 0 };
}

bool read_stops_between(const struct read_stops *stops, uint64_t start, uint64_t end)
{
	uint32_t next = SEARCH(i, 0, stops->count, stops->at[i] <= start);

	return next < stops->count && stops->at[next] <= end;
}
