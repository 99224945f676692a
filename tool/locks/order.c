/* SPDX-License-Identifier: MIT */
#include "tool/locks/order.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/locks/holds.h"
#include "tool/locks/model.h"

/* ---- edges ---- */

static uint32_t hash_ends(uint32_t from, uint32_t to, bool from_reads, bool to_reads)
{
	return hash_key((uint64_t)from << 32 | to, (from_reads ? 2u : 0) + to_reads);
}

static uint32_t find(const struct locks_order *order, uint32_t from, uint32_t to, bool from_reads, bool to_reads)
{
	return HASH_FIND(i, &order->by_ends, hash_ends(from, to, from_reads, to_reads),
		order->edge[i].from == from && order->edge[i].to == to && order->edge[i].from_reads == from_reads &&
			order->edge[i].to_reads == to_reads);
}

static bool is_over(const struct locks *locks, const struct order_edge *edge)
{
	return edge->from == LOCKS_NONE ||
	       (!edge->kept && (locks->lock[edge->from].over || locks->lock[edge->to].over));
}

/*
 * Frees edges from and to locks that are over, of which there may be far more than of others. The table can't do
 * without a single row: so this is done when there are twice as many rows as the last time left.
 */
static void sweep(struct locks *locks)
{
	struct locks_order *order = locks->order;

	if (order->by_ends.rows < 1024 || order->by_ends.rows < 2 * order->swept)
		return;
	hash_clear(&order->by_ends);
	order->free = LOCKS_NONE;
	for (uint32_t i = 0; i < order->edges; i++)
		if (order->edge[i].from != LOCKS_NONE)
			locks->lock[order->edge[i].from].edge_first = LOCKS_NONE;
	for (uint32_t i = 0; i < order->edges; i++) {
		struct order_edge *edge = &order->edge[i];
		if (is_over(locks, edge)) {
			edge->from = LOCKS_NONE;
			edge->next = order->free;
			order->free = i;
			continue;
		}
		if (!locks->lock[edge->from].over) {
			edge->next = locks->lock[edge->from].edge_first;
			locks->lock[edge->from].edge_first = i;
		}
		memory_hash(&order->by_ends, hash_ends(edge->from, edge->to, edge->from_reads, edge->to_reads), i);
	}
	order->swept = order->by_ends.rows;
}

static uint32_t new_edge(struct locks *locks, const struct order_edge *from)
{
	struct locks_order *order = locks->order;
	uint32_t number = order->free;

	if (number == LOCKS_NONE) {
		order->edge = memory_grow(order->edge, order->edges, sizeof(*order->edge));
		number = order->edges++;
	} else {
		order->free = order->edge[number].next;
	}
	struct order_edge *edge = &order->edge[number];
	*edge = *from;
	edge->next = locks->lock[from->from].edge_first;
	locks->lock[from->from].edge_first = number;
	memory_hash(&order->by_ends, hash_ends(from->from, from->to, from->from_reads, from->to_reads), number);
	return number;
}

/* What the thread holds for itself alone, beside `from`. */
static bool is_gate(const struct locks *locks, uint32_t thread, uint32_t from, uint32_t lock)
{
	uint32_t hold = lock == from ? LOCKS_NONE : holds_of(locks, thread, lock);

	return hold != LOCKS_NONE && !locks->hold[hold].reads;
}

static void put_gates(const struct locks *locks, uint32_t thread, struct order_edge *edge)
{
	for (uint32_t i = locks->thread[thread].hold_first; i != LOCKS_NONE; i = locks->hold[i].next_of_thread)
		if (edge->gates < ORDER_GATES && is_gate(locks, thread, edge->from, locks->hold[i].lock))
			edge->gate[edge->gates++] = locks->hold[i].lock;
}

static void keep_gates(const struct locks *locks, uint32_t thread, struct order_edge *edge)
{
	for (uint32_t i = edge->gates; i--;)
		if (!is_gate(locks, thread, edge->from, edge->gate[i]))
			edge->gate[i] = edge->gate[--edge->gates];
}

/* ---- circles ---- */

/* May one wait at the end of the first edge for who walks the second? */
static bool go_on(const struct order_edge *one, const struct order_edge *next)
{
	return one->to == next->from && locks_excludes(next->from_reads, one->to_reads);
}

/* The edges from the new one back to its beginning, by the shortest way that the search has found. */
static void keep_circle(struct locks_order *order, uint32_t last, uint32_t first)
{
	struct order_inversion inversion = { .edges = 0 };

	for (uint32_t i = last; i != first; i = order->edge[i].came_from)
		if (++inversion.edges == ORDER_LONGEST)
			return;
	inversion.edges++;
	for (uint32_t i = last, at = inversion.edges; at--; i = order->edge[i].came_from)
		inversion.edge[at] = i;
	for (uint32_t i = 0; i < inversion.edges; i++)
		order->edge[inversion.edge[i]].kept = true;
	order->inversion = memory_grow(order->inversion, order->inversions, sizeof(*order->inversion));
	order->inversion[order->inversions++] = inversion;
}

static void look_for_circle(struct locks *locks, uint32_t first)
{
	struct locks_order *order = locks->order;
	uint32_t read = 0, count = 1;

	if (order->inversions == ORDER_INVERSIONS)
		return;
	if (!order->queue)
		order->queue = memory_zeroed(ORDER_VISITS, sizeof(*order->queue));
	order->search++;
	order->queue[0] = first;
	order->edge[first].seen = order->search;
	order->edge[first].came_from = first;
	while (read < count) {
		uint32_t at = order->queue[read++];
		for (uint32_t i = locks->lock[order->edge[at].to].edge_first; i != LOCKS_NONE;
			i = order->edge[i].next) {
			struct order_edge *edge = &order->edge[i];
			if (edge->seen == order->search || !go_on(&order->edge[at], edge))
				continue;
			edge->seen = order->search;
			edge->came_from = at;
			if (go_on(edge, &order->edge[first])) {
				keep_circle(order, i, first);
				return;
			}
			if (count < ORDER_VISITS)
				order->queue[count++] = i;
		}
	}
}

void order_want(struct locks *locks, const struct locks_call *call, uint32_t lock)
{
	struct locks_order *order = locks->order;
	bool reads = locks_act_reads(call->act);

	for (uint32_t i = locks->thread[call->thread].hold_first; i != LOCKS_NONE;
		i = locks->hold[i].next_of_thread) {
		const struct locks_hold *hold = &locks->hold[i];
		uint32_t found = find(order, hold->lock, lock, hold->reads, reads);
		if (found == HASH_NONE) {
			struct order_edge edge = {
				.from = hold->lock, .to = lock, .from_reads = hold->reads, .to_reads = reads,
				.thread = call->thread, .held_place = hold->place, .place = call->place,
				.first = call->time, .count = 1,
			};
			sweep(locks);
			put_gates(locks, call->thread, &edge);
			look_for_circle(locks, new_edge(locks, &edge));
			continue;
		}
		struct order_edge *edge = &order->edge[found];
		edge->count++;
		edge->several |= edge->thread != call->thread;
		if (edge->gates)
			keep_gates(locks, call->thread, edge);
	}
}

/* Edges to and from it are found by nobody any more, but by a search that ends there. */
void order_remove(struct locks *locks, uint32_t lock)
{
	locks->lock[lock].edge_first = LOCKS_NONE;
}

/* ---- what is told of them ---- */

static bool has_gate(const struct order_edge *edge, uint32_t lock)
{
	for (uint32_t i = 0; i < edge->gates; i++)
		if (edge->gate[i] == lock)
			return true;
	return false;
}

uint32_t order_gate(const struct locks_order *order, const struct order_inversion *inversion)
{
	const struct order_edge *first = &order->edge[inversion->edge[0]];

	for (uint32_t i = 0; i < first->gates; i++) {
		uint32_t edges = 1;
		while (edges < inversion->edges &&
			has_gate(&order->edge[inversion->edge[edges]], first->gate[i]))
			edges++;
		if (edges == inversion->edges)
			return first->gate[i];
	}
	return LOCKS_NONE;
}

bool order_is_one_thread(const struct locks_order *order, const struct order_inversion *inversion)
{
	const struct order_edge *first = &order->edge[inversion->edge[0]];

	for (uint32_t i = 0; i < inversion->edges; i++) {
		const struct order_edge *edge = &order->edge[inversion->edge[i]];
		if (edge->several || edge->thread != first->thread)
			return false;
	}
	return true;
}

void order_free(struct locks_order *order)
{
	free(order->edge);
	free(order->inversion);
	free(order->queue);
	hash_free(&order->by_ends);
}
