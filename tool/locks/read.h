/* SPDX-License-Identifier: MIT */
/*
 * From the events of a trace, in the order of time over all threads, to the model of its locks. What has a number in
 * the model (process, thread, function, place) is found here. One thread.
 */
#ifndef XAUDIT_TOOL_LOCKS_READ_H
#define XAUDIT_TOOL_LOCKS_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/locks/model.h"
#include "tool/read/api/xaudit-read.h"

/* Where a call came from: from a call of this function. */
struct locks_origin {
	uint32_t process;
	uint32_t function; /* the one that was called */
	uint32_t caller;   /* the traced function around it; LOCKS_NONE */
	uint64_t key;	   /* of the chain, in its process (format/chain.h); 0: there is none */
	const struct xaudit_read_stack *stack; /* NULL */
};

struct locks_process {
	struct xaudit_read_process *process;
	uint64_t last; /* its last event */
};

/* An object, where it was. */
struct locks_load {
	uint32_t process, number; /* of the load */
	const struct xaudit_read_object *object;
	uint64_t address, from, to; /* to XAUDIT_READ_UNKNOWN: it stayed */
};

#define LOCKS_RECENT 64

struct locks_reading {
	struct xaudit_read_trace *trace;
	struct locks locks;
	struct locks_process *process;
	uint32_t processes;
	struct hash by_process;
	struct locks_origin *place;
	uint32_t places;
	struct hash by_place;
	struct locks_load *load;
	uint32_t loads;
	/* Threads that had events not long ago, by tid. */
	struct locks_recent {
		const struct xaudit_read_process *from;
		uint32_t tid, process, thread;
	} recent[LOCKS_RECENT];
	/* What each function does, by number. */
	struct locks_meaning {
		const struct locks_function *function;
		bool known, ends;
	} *meaning;
	uint32_t meanings;
	uint64_t calls;	  /* of lock functions */
	uint64_t unnamed; /* of these, those of which it is not recorded which lock they are about */
	uint64_t lost;	  /* events */
};

/* Reads all. Ends the command where memory runs out. */
void locks_read(struct locks_reading *reading, struct xaudit_read_trace *trace);
void locks_reading_free(struct locks_reading *reading);

#endif
