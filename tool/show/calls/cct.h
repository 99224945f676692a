/* SPDX-License-Identifier: MIT */
/*
 * A tree of calls: a node per path of calls (main, then what main called, ...), over all threads and processes that
 * were given to it. It is filled with calls that are over, from xaudit_read_next_call(), in which calls come before
 * those around them: cct_take() makes the nodes of the calls around it, too.
 *
 * Numbers of a node
 *	calls	its calls, whether they have a time or not.
 *	total	the sum of the calls' totals: of all nodes of a function together this is what `xaudit report`
 *		shows as total. Of a recursive path it is 0: its time is in that of the path around it.
 *	own	the time of its calls without those in them.
 *	all	the time of its calls. Of a call whose time is not known: that of the calls in it. After cct_sum() also
 *		those times of calls below whose callers were not given to it: these began before --from.
 * Of a time, `timed` is as much as is known to have been spent on a processor or not (0: no switches were recorded),
 * and `cpu` as much of that as was spent on a processor. timed - cpu is waiting.
 * All times are those of xaudit_read_call.ticks, so that sums are exact; cct_convert() makes ns of them at the end. The
 * trees of several traces, whose ticks differ, are merged when they have ns.
 *
 * While a call is open, the low half of its user[0] is its node, and user[1] the processor time of the calls in it. The
 * high half of user[0] is the caller's own.
 *
 * Memory: for `most` nodes. After that, calls on new paths count for the node of the call around them: their own time
 * is in its own, and `folded` is their number. The sums per function (cct_function()) have them all.
 *
 * One thread. When memory runs out, the command ends (tool/base/memory.h).
 */
#ifndef XAUDIT_TOOL_SHOW_CALLS_CCT_H
#define XAUDIT_TOOL_SHOW_CALLS_CCT_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/read/api/xaudit-read.h"

#define CCT_ROOT 0u	   /* the node that stands for the program: no call */
#define CCT_MOST (1u << 21) /* nodes: some 250 MB */

struct cct_time {
	uint64_t time, timed, cpu;
};

struct cct_node {
	/* Its number in the trace; of the root UINT32_MAX; any other one of cct_hit(), and where `place` makes nodes */
	uint32_t function;
	uint32_t parent;
	uint32_t child, next; /* its first child, and its parent's next one; CCT_ROOT: none */
	uint32_t recent;      /* the child that was looked for last */
	uint32_t depth;	      /* of the root 0 */
	uint64_t calls, total;
	struct cct_time own, all;
	struct cct_time loose; /* of its calls, as `all`, those whose callers are not in the tree */
};

struct cct_function {
	uint64_t calls, total;
	struct cct_time own;
};

struct cct {
	struct cct_node *node; /* a node's parent comes before it */
	uint32_t nodes, room, most;
	struct hash by_path; /* of a node's parent and function */
	struct cct_function *function; /* see cct_function() */
	uint32_t functions;
	uint64_t from;	 /* set after cct_open(): calls that began before that are not given to cct_take() */
	bool nodes_only; /* set after cct_open(): without sums per function */
	/*
	 * Set after cct_open(), or NULL: where the caller places a call. True: it goes below *node, whatever calls are
	 * around it. *all, which is true before: whether there was room for all of the path to it.
	 */
	bool (*place)(void *user, struct cct *cct, const struct xaudit_read_call *call, uint32_t *node, bool *all);
	void *user;
	uint64_t folded;
	struct xaudit_read_call **path; /* for cct_enter() */
	uint32_t path_room;
};

void cct_open(struct cct *cct, uint32_t most);
void cct_close(struct cct *cct);

/* Forgets all calls, but keeps the memory. Takes time for as many nodes, and functions, as there were. */
void cct_clear(struct cct *cct);

/* The child of a node for a function; CCT_ROOT if it has none and may have no new one. */
uint32_t cct_child(struct cct *cct, uint32_t parent, uint32_t function);

/* As cct_child(), but makes none. */
uint32_t cct_find(const struct cct *cct, uint32_t parent, uint32_t function);

/*
 * Gives an open call its node, if it has none; calls around it that have none, too. The first: below that of the call
 * around it. The second: below the root, whatever calls are around it.
 */
void cct_enter(struct cct *cct, struct xaudit_read_call *call);
void cct_enter_root(struct cct *cct, struct xaudit_read_call *call);

/* Takes a call that is over (XAUDIT_READ_CALL). Returns its node, or that of a call around it if it was folded. */
uint32_t cct_take(struct cct *cct, struct xaudit_read_call *call);

/*
 * Counts something that has no time, and no function, in a call that is open (NULL: in none): a child of the call's
 * node has that number. The second one: of the node's own. Returns the child; CCT_ROOT: it was folded.
 */
uint32_t cct_hit(struct cct *cct, struct xaudit_read_call *call, uint32_t number);
uint32_t cct_hit_at(struct cct *cct, uint32_t node, uint32_t number);

/* Its own time, and all of it, of a call that was taken. */
void cct_times(const struct xaudit_read_call *call, struct cct_time *own, struct cct_time *all);

/* The sums of a function, which are 0 if no call of it was taken. Valid until the next call is taken. */
const struct cct_function *cct_function(const struct cct *cct, uint32_t number);

/* Adds a time. */
void cct_add(struct cct_time *to, const struct cct_time *from);

/* Completes `all` of each node, when all calls are there. */
void cct_sum(struct cct *cct);

/* Makes ns of all times, of nodes and functions. calls: the cursor that gave them. Nothing can be added after that. */
void cct_convert(struct cct *cct, const struct xaudit_read_calls *calls);
void cct_to_ns(const struct xaudit_read_calls *calls, struct cct_time *time);

/*
 * Adds a tree that is summed, and converted as this one is. number: those of its functions here, by their numbers
 * there; `numbers` of them: greater ones (of `place`, cct_hit()) are the same. in: gets the node here of each node
 * there; CCT_ROOT: it was folded.
 */
void cct_merge(struct cct *to, const struct cct *from, const uint32_t *number, uint32_t numbers, uint32_t *in);

/* Sorts the children of each node: by `all`, or by total; falling, then by calls, then by function. */
void cct_sort(struct cct *cct, bool by_total);

/*
 * The functions of nodes, the outermost first, for many nodes in any order: parents are looked for where they stand
 * close together. No node may be added meanwhile.
 */
struct cct_paths {
	const struct cct *cct;
	struct cct_up {
		uint32_t parent, function;
	} *up; /* by number of a node */
	uint32_t *function; /* of the last node that was asked for; the caller may change it */
	uint32_t room;
};
void cct_paths_open(struct cct_paths *paths, const struct cct *cct);
uint32_t cct_paths_of(struct cct_paths *paths, uint32_t node); /* returns how many there are */
void cct_paths_close(struct cct_paths *paths);

/* The node after `node` in the tree that begins with `top`, parents first; CCT_ROOT: none. skip: none below `node`. */
uint32_t cct_next(const struct cct *cct, uint32_t top, uint32_t node, bool skip);

#endif
