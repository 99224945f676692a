/* SPDX-License-Identifier: MIT */
/* Why events were lost, in words. */
#ifndef XAUDIT_LOST_H
#define XAUDIT_LOST_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"

/* Events by cause, biggest first. */
struct lost_cause {
	const char *phrase; /* "since the disk was full" */
	uint64_t events;
	unsigned cause; /* enum trace_lost */
};

/* The causes whose number is not 0, from lost_by of a head, or of many heads added up. Returns how many. */
unsigned lost_causes(struct lost_cause cause[TRACE_LOST_ROOM], const uint64_t by[TRACE_LOST_ROOM]);

/*
 * "since the disk was full"; if there are several causes, "1000 since the disk was full, 200 since no descriptor was
 * free (ulimit -n)". The caller frees it. NULL: no cause is known.
 */
char *lost_words(const uint64_t by[TRACE_LOST_ROOM]);

#endif
