/* SPDX-License-Identifier: MIT */
/*
 * In which order locks are taken: a graph with an edge from A to B where a thread that held A wanted B, and would have
 * waited for it. A circle in it is an inversion: if each of its edges is walked by a thread of its own at the same
 * time, none of these goes on. Looked for when an edge is new. Two readers of one lock do not keep each other out, so
 * no circle leads from one who came to read it to one who read it before.
 *
 * Where all these threads hold another lock meanwhile, for themselves alone, it can't happen: that lock is the gate of
 * the inversion. What edges tell goes on until the end: a gate that was not held once is none.
 *
 * Of locks that are over, edges that are part of no inversion are removed now and then. One thread.
 */
#ifndef XAUDIT_TOOL_LOCKS_ORDER_H
#define XAUDIT_TOOL_LOCKS_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/base/hash.h"

#define ORDER_GATES	8
#define ORDER_LONGEST	8    /* edges of an inversion, most */
#define ORDER_VISITS	4096 /* edges that are looked at for a new one, most */
#define ORDER_INVERSIONS 1000

struct locks;
struct locks_call;

struct order_edge {
	uint32_t from, to; /* locks; from LOCKS_NONE: the edge is free */
	bool from_reads, to_reads;
	bool kept;    /* part of an inversion */
	bool several; /* threads */
	uint32_t thread; /* the first one */
	uint32_t held_place, place; /* where it had locked `from`, and where it wanted `to`, at first */
	uint64_t first, count;
	uint32_t gate[ORDER_GATES], gates;
	uint32_t next; /* from the same lock; or free */
	uint32_t seen; /* number of the search that came here */
	uint32_t came_from; /* in that search */
};

struct order_inversion {
	uint32_t edge[ORDER_LONGEST], edges; /* each begins at the lock where the one before it ends, in a circle */
};

struct locks_order {
	struct order_edge *edge;
	uint32_t edges, free;
	struct hash by_ends;
	uint32_t swept; /* rows that the last sweep left */
	uint32_t search;
	uint32_t *queue; /* room for ORDER_VISITS edges */
	struct order_inversion *inversion;
	uint32_t inversions;
};

/* The thread is about to wait for the lock: edges from all that it holds. */
void order_want(struct locks *locks, const struct locks_call *call, uint32_t lock);

/* The lock is over. */
void order_remove(struct locks *locks, uint32_t lock);

/* The gate of an inversion; LOCKS_NONE. */
uint32_t order_gate(const struct locks_order *order, const struct order_inversion *inversion);

/* Did one and the same thread walk all of its edges? */
bool order_is_one_thread(const struct locks_order *order, const struct order_inversion *inversion);

void order_free(struct locks_order *order);

#endif
