/* SPDX-License-Identifier: MIT */
/*
 * The fast lane of the loop that counts (loop.h): runs of entries, and of ends that are the innermost call's own, where
 * all calls count that begin in them, or none. What a word says is told by decode.h, what counts of a call by loop.h;
 * the order in which it is done differs. The first word that is anything else is left to decode.h, calls.h and the
 * hooks of loop.c, as are runs in which only some calls count. One thread per struct read_count.
 */
#ifndef XAUDIT_TOOL_READ_PROFILE_FAST_H
#define XAUDIT_TOOL_READ_PROFILE_FAST_H

#include "tool/read/profile/loop.h"

/* Takes words of the block; count->calls.top is the innermost call before and after. Returns how many it took. */
size_t read_count_fast(struct read_count *count, struct read_decoder *decoder);

#endif
