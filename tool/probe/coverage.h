/* SPDX-License-Identifier: MIT */
/* Which instructions of a file a probe can be at, as text for people. One thread. */
#ifndef XAUDIT_TOOL_PROBE_COVERAGE_H
#define XAUDIT_TOOL_PROBE_COVERAGE_H

#include <stdint.h>

struct window;
struct window_place;

/* How many by each way, and why not the others: lines of standard output. Nothing where the file can't be read. */
void coverage_print(int fd, const char *path);

/* By which way, in a word; or the phrase of why there can be none. address: the instruction's. */
const char *coverage_way(const struct window *window, const struct window_place *place, uint64_t address);

const char *coverage_refusal(unsigned refusal);

#endif
