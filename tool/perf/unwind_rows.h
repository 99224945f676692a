/* SPDX-License-Identifier: MIT */
/* What libdw knows of a frame, as instructions of an FDE again. */
#ifndef XAUDIT_TOOL_PERF_UNWIND_ROWS_H
#define XAUDIT_TOOL_PERF_UNWIND_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "elfutils/libdwfl.h"

struct perf_bytes;

/*
 * Adds the instructions of an FDE that say what holds right before the address, for a CIE with CFA = rsp+8 and the
 * return address at CFA-8. False: nothing is known, or nothing that can be said so; then nothing was added.
 */
bool perf_row(struct perf_bytes *to, Dwfl_Module *module, uint64_t address);

#endif
