/* SPDX-License-Identifier: MIT */
/* Tells what a trace lacks when its recording ends: people who look at numbers must know that they are not complete. */
#ifndef XAUDIT_TOOL_RECORD_LOSSES_H
#define XAUDIT_TOOL_RECORD_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"

struct xaudit_read_process;

/* What processes lost, added up; zeros at first. */
struct record_losses {
	uint64_t lost, events; /* of the processes that lost some; events: written, counted, lost ones */
	unsigned processes;
	bool about;	/* events are an estimate */
	uint64_t by[TRACE_LOST_ROOM]; /* by enum trace_lost */
	uint32_t record_error;	      /* of one of them */
	char which[160]; /* their names, the first few: "p12, p13.1" */
};

/* Adds what a process lost. */
void record_losses_look(struct record_losses *lost, struct xaudit_read_process *process);

/* Says in one line on stderr what was lost, if anything was. processes: how many were traced. */
void record_losses_say(const struct record_losses *lost, unsigned processes);

#endif
