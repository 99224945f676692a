/* SPDX-License-Identifier: MIT */
/*
 * Which object a process has mapped where, and when: by its records of loads and unloads, those of its parents first.
 * They are read when asked for, and again where the process has got more of them. What is closed when the process exits
 * stays mapped.
 *
 * One thread per trace.
 */
#ifndef XAUDIT_TOOL_READ_API_FRAME_LOADS_H
#define XAUDIT_TOOL_READ_API_FRAME_LOADS_H

#include "tool/read/process.h"

struct read_frame_load {
	uint64_t start, end, base;
	uint64_t from, until; /* ticks */
	uint32_t load, object;
	bool beside; /* in a namespace of dlmopen */
};

/* Zeroed memory is one that was not asked yet. */
struct read_frame_loads {
	struct read_frame_load *load; /* by start, then by `from` */
	size_t loads;
	uint64_t *moment; /* ticks: when there was a change, in order */
	size_t moments;
	uint64_t exit; /* ticks: when the program was closed; 0: it is not */
	uint64_t parsed; /* of the process's records */
	bool known;
};

/* Reads what is new. Returns whether anything is. */
bool read_frame_loads_read(struct read_frame_loads *loads, struct read_process *process);

/* How many changes there were up to that time: as long as it is the same, so are all objects. */
uint64_t read_frame_loads_age(const struct read_frame_loads *loads, uint64_t ticks);

/* What lies at the address then; NULL: nothing that is known. */
const struct read_frame_load *read_frame_loads_find(
	const struct read_frame_loads *loads, uint64_t address, uint64_t ticks);

void read_frame_loads_free(struct read_frame_loads *loads);

#endif
