/* SPDX-License-Identifier: MIT */
/*
 * On to a moment: of what comes before it nothing is told, but the calls that are open then have to be known, and no
 * chunk says which these are. So its words are read, and its plain ones are followed here, at some 2 ns each: nothing
 * is made of a call but where it stands on its stack, what it is a call of, and when it began. The caller takes all
 * other words, one by one, and makes of the calls that are open at the moment what it needs.
 *
 * No state but its arguments; nothing here is thread-safe or async-signal-safe.
 */
#ifndef XAUDIT_TOOL_READ_EVENTS_AHEAD_H
#define XAUDIT_TOOL_READ_EVENTS_AHEAD_H

#include "tool/read/clock.h"
#include "tool/read/events/calls.h"

#define READ_AHEAD_RUN 256 /* words */

/* The first moment in ticks that is not before `time`, ns. */
uint64_t read_ahead_ticks(const struct read_clock *clock, uint64_t time);

/*
 * Takes words of the block, at most READ_AHEAD_RUN, up to one that is not plain, or that is not before `until` (ticks).
 * Of calls that begin, `user` is NULL and `row` what is given here; the end of a call whose `user` is not NULL is not
 * plain. calls->top is the innermost call before and after, and there is room for two calls more than words. Returns
 * how many words it took.
 */
size_t read_ahead_run(struct read_decoder *decoder, struct read_calls *calls, uint32_t row, uint64_t until);

/* The same up to the end of the block, with room made. */
void read_ahead_block(struct read_decoder *decoder, struct read_calls *calls, uint32_t row, uint64_t until);

#endif
