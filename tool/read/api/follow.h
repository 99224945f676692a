/* SPDX-License-Identifier: MIT */
#ifndef XAUDIT_TOOL_READ_API_FOLLOW_H
#define XAUDIT_TOOL_READ_API_FOLLOW_H

#include "tool/read/api/api.h"
#include "tool/read/events/calls.h"
#include "tool/read/events/chunk_words.h"
#include "tool/read/events/chunks.h"
#include "tool/read/events/counts.h"
#include "tool/read/events/stacks.h"

#define READ_FOLLOW_BLOCK (64u << 10) /* bytes */

struct read_follow_row {
	uint64_t calls;	  /* by events */
	uint64_t counted; /* by counters */
	uint64_t events;  /* of a probe */
	uint64_t self;	  /* ticks */
	struct xaudit_read_follow_row public;
};

struct read_follow_thread {
	struct read_chunks chunks;
	bool begun;
	struct read_chunk chunk; /* the present chunk */
	uint64_t pos;	    /* of the next word, from where it begins */
	struct read_chunk_hole hole; /* if words are behind it: waited for until the next look */
	unsigned laps; /* in this look */
	uint64_t last; /* up to where self time was given out */
	struct read_decoder decoder;
	const void *record;	   /* what it is called by `stacks`, no more: it moves itself */
	struct read_stacks *stacks;	   /* of the process */
	struct read_stack_calls *stack; /* that its events are on */
	uint64_t *count, *now; /* counters at the last look and at this one, by id */
	uint32_t counts;
};

struct xaudit_read_follow {
	struct xaudit_read_follow *next; /* of the trace */
	struct xaudit_read_process *process;
	struct read_process *read;
	struct read_damage *damage;
	bool live;		    /* the clock can be read here: what runs now is shown, not only what ended */
	struct read_follow_row *row;	    /* by index of the function, or the probe, in the process */
	uint32_t rows;
	struct read_stacks stacks;  /* of the process */
	struct read_follow_thread *thread;	    /* by number of the record */
	unsigned threads;
	uint32_t changes;	    /* of the process that were seen */
	uint64_t lost_before;
	uint64_t words, words_skipped; /* of this look */
	uint64_t block[READ_FOLLOW_BLOCK / 8];
	struct read_counts counts;
	struct xaudit_read_look look;
};

#endif
