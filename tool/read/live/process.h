/* SPDX-License-Identifier: MIT */
/*
 * One process of a trace that grows (live.h): its thread records, its stacks, and the calls that are open on them. The
 * events that it takes come in the order of time over all of its records: live.c sees to that.
 */
#ifndef XAUDIT_TOOL_READ_LIVE_PROCESS_H
#define XAUDIT_TOOL_READ_LIVE_PROCESS_H

#include "tool/base/hash.h"
#include "tool/read/api/api.h"
#include "tool/read/api/values.h"
#include "tool/read/events/stacks.h"
#include "tool/read/live/live.h"
#include "tool/read/live/source.h"

/* A call that is open. */
struct live_call {
	struct xaudit_read_call public;
	struct read_api_values *entered, *ended;
	struct read_source_entry at;
	unsigned record; /* where that is */
	struct live_call *next; /* of those that are free */
};

/* A thread record. */
struct live_record {
	struct read_source source;
	struct read_stack_calls *on; /* the stack that its events are on */
	uint32_t tid;
	uint64_t blocks; /* those of the source for which open calls were looked at */
	/* Of live.c, while the source has a head: its time in the reader's ticks. */
	struct live_process *process;
	uint64_t time;
};

struct live_process {
	struct read_live_process public;
	struct xaudit_read_process wrapped; /* what functions are asked of */
	struct read_process *read;
	struct read_live *live;
	struct live_record **record; /* by number */
	unsigned records;
	struct read_stacks stacks;
	const struct xaudit_read_function **function; /* by index in the process; NULL: not asked for yet */
	uint32_t functions;
	struct live_call *spare;
	unsigned last; /* looks since its end was seen */
	bool over;     /* all was told */
	uint64_t asked; /* when its state was asked for last */
	/* The event at hand. */
	const struct live_record *at;
	uint64_t ns;
	struct xaudit_read_values values; /* layout NULL: none */
};

/* So after 40 days the time is less than a ns off. */
#define LIVE_RATE 54

/* What is told, and to whom. */
struct read_live {
	const struct read_live_hooks *hooks;
	void *user;
	char *path;	       /* DIR; NULL: one process */
	int64_t scanned;       /* mtime of DIR at the last listing, ns */
	struct live_family **family;
	unsigned families;
	struct hash by_name; /* families, over ones, too */
	struct live_process **process;
	unsigned processes;
	struct live_record **heap; /* records with an event, by its time */
	unsigned heaped, room;
	struct live_moment {
		uint64_t ticks, ns;
	} begin, now; /* moments on both clocks */
	uint64_t rate; /* between these: ns of a tick, times 2^LIVE_RATE */
	bool gives; /* room was given back: so shall be what is left when a process ends */
	bool more; /* the last look was not the end of what was there */
	bool no_memory;
};

/* The clock of the process's events in the reader's ticks, so that all can be compared; and these in ns. */
uint64_t live_ticks(const struct read_live *live, const struct live_process *process, uint64_t ticks);
uint64_t live_ns(const struct read_live *live, uint64_t ticks);

/*
 * A process whose head is there. newest: of its records only their newest chunks, which tell of calls that are open.
 * NULL: no memory.
 */
struct live_process *live_process_open(
	struct read_live *live, struct xaudit_read_trace *trace, struct read_process *read, bool newest);
void live_process_close(struct live_process *process);

/* Takes the records that are there now. */
void live_process_look(struct live_process *process, bool newest);

/* Takes the head of the record, and has its hooks told. */
void live_process_take(struct live_process *process, struct live_record *record);

/* It has ended: calls that are open have no end. */
void live_process_end(struct live_process *process);

#endif
