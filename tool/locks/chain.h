/* SPDX-License-Identifier: MIT */
/*
 * Chains of waits: A waits for a lock that B holds, who waits for one that C holds. Looked for whenever a call begins
 * to wait; kept by the locks that they go through, so what happens again is one row. A chain that comes back to a
 * thread of its own is a deadlock, or would be one if its calls had no time limit. One thread.
 */
#ifndef XAUDIT_TOOL_LOCKS_CHAIN_H
#define XAUDIT_TOOL_LOCKS_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#define CHAINS_LONGEST 16 /* waits; of a longer one the first so many */
#define CHAINS_MOST    256

struct locks;

struct locks_chain {
	uint32_t waits, count;
	bool circle;
	/* thread[i] waits for lock[i], which thread[i + 1] holds. */
	uint32_t lock[CHAINS_LONGEST], thread[CHAINS_LONGEST + 1];
	uint64_t first; /* when it first stood like that; the threads are those of then */
	uint64_t longest; /* how long the last one, thread[0], waited at most */
};

struct locks_chains {
	struct locks_chain chain[CHAINS_MOST];
	uint32_t chains;
};

/* The thread's innermost call has begun to wait, or what it waits for is held by another thread now. */
void chain_look(struct locks *locks, uint32_t thread, uint64_t time);

/* The call of the last one of this chain is over. */
void chain_waited(struct locks *locks, uint32_t chain, uint64_t time);

/* Is the chain a part of a longer one? */
bool chain_is_part(const struct locks_chains *chains, uint32_t chain);

#endif
