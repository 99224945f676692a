/* SPDX-License-Identifier: MIT */
/* Which instructions of a file a probe can be at, as text for people. One thread. */
#ifndef XAUDIT_TOOL_PROBE_COVERAGE_H
#define XAUDIT_TOOL_PROBE_COVERAGE_H

#include <stdint.h>

struct window;

/* How many by each way, and why not the others: lines of standard output. Nothing where the file can't be read. */
void coverage_print(int fd, const char *path);

/* By which way, in a word. address: the instruction's. */
const char *coverage_way(const struct window *window, uint64_t address);

/* Why there can be none: a phrase. */
const char *coverage_refusal(unsigned refusal);

#endif
