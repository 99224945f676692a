/* SPDX-License-Identifier: MIT */
/*
 * The records of one process: a stream of bytes through places of meta (format/trace.h), which begins in the place of
 * its head: in the lower half. Extents grow, each to twice the one before, so a table in the head has room for all.
 * Nothing moves or is unmapped.
 *
 * Process lock held. Async-signal-safe, no libc.
 */
#ifndef XAUDIT_RECORDS_H
#define XAUDIT_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"

/* The state of the stream. Positions count from the head's beginning. */
struct records {
	struct trace_head *head;
	uint32_t place, extents; /* where they lie, which the head tells readers alone */
	struct trace_extent extent[TRACE_EXTENTS];
	uint64_t used;	/* whole records end here */
	uint64_t room;	/* places end here */
	uint64_t ready; /* up to here stores can't raise SIGBUS */
};

/* The head's place is taken, its first page is reserved, of place 0 more (pool.h); head->head_size is set. */
void records_begin(struct records *records, struct trace_head *head, uint32_t place);

/* Appends a record: head (its size is filled in), body, padding. Returns 0, or -errno: nothing was appended. */
long records_append(struct records *records, struct trace_record *head, size_t head_size, const void *body,
	size_t body_size);

#endif
