/* SPDX-License-Identifier: MIT */
/*
 * Restartable sequences of a file (section __rseq_cs): code that the kernel has begin anew where it was interrupted,
 * which it tells by the instruction pointer. Memory that runs out ends the command. One thread.
 */
#ifndef XAUDIT_TOOL_PROBE_RSEQ_H
#define XAUDIT_TOOL_PROBE_RSEQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;

struct rseq {
	struct rseq_range {
		uint64_t from, to; /* the first byte behind it */
		uint64_t abort;	   /* where the kernel has it go on; a signature of four bytes is before that */
	} *range;
	size_t count;
};

void rseq_read(struct rseq *rseq, const struct image *image);
void rseq_free(struct rseq *rseq);

/* Do any of these bytes belong to a sequence, or to a signature? Is it where one goes on, in between? */
bool rseq_holds(const struct rseq *rseq, uint64_t from, uint64_t to);
bool rseq_aborts(const struct rseq *rseq, uint64_t address);

#endif
