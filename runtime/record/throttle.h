/* SPDX-License-Identifier: MIT */
/*
 * Throttling: functions whose short calls fill a chunk are only counted from then on (filter.h), and the trace says so.
 *
 * A call is short when its exit is the next event after its entry and less than 200 ns away: other short calls have
 * such calls below them, which are throttled first. A thread looks at its chunk when it leaves it. Takes the process
 * lock if a function will be throttled.
 */
#ifndef XAUDIT_THROTTLE_H
#define XAUDIT_THROTTLE_H

#include "format/trace.h"

/* percent of a chunk's room that short calls of one function may fill; 0: any. la_version. */
void throttle_init(unsigned percent);

/*
 * Looks at a chunk of that size that takes no more events. Other processes of the family may have written to it, and so
 * decide which functions are only counted.
 */
void throttle_look(const struct trace_chunk *chunk, uint64_t size);

/* Events with values that have this layout are those of this word (TRACE_WORD()). Process lock held. */
void throttle_layout(uint32_t layout, uint32_t event);

#endif
