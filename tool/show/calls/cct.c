/* SPDX-License-Identifier: MIT */
#include "tool/show/calls/cct.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

#define ROOM_FIRST 64u

/* In the low half of user[0]: the number of the node, plus one. */
#define USER_NODE   0x7fffffffu
#define USER_FOLDED 0x80000000u /* the node is that of a call around it */
#define USER_LOW    0xffffffffu

/* In user[1]: of a call in it, the processor time is not known. */
#define CPU_UNKNOWN UINT64_MAX

static void begin_root(struct cct *cct)
{
	cct->node[CCT_ROOT] = (struct cct_node){ .function = UINT32_MAX };
	cct->nodes = 1;
}

void cct_open(struct cct *cct, uint32_t most)
{
	*cct = (struct cct){ .room = ROOM_FIRST, .most = most };
	cct->node = memory_zeroed(cct->room, sizeof(*cct->node));
	begin_root(cct);
}

void cct_close(struct cct *cct)
{
	free(cct->node);
	hash_free(&cct->by_path);
	free(cct->function);
	free(cct->path);
	*cct = (struct cct){ 0 };
}

void cct_clear(struct cct *cct)
{
	if (cct->nodes < cct->by_path.mask / 8)
		for (uint32_t i = 1; i < cct->nodes; i++)
			hash_remove(&cct->by_path, hash_key(cct->node[i].parent, cct->node[i].function), i);
	else
		hash_clear(&cct->by_path);
	if (cct->function)
		memset(cct->function, 0, cct->functions * sizeof(*cct->function));
	begin_root(cct);
	cct->folded = 0;
}

uint32_t cct_find(const struct cct *cct, uint32_t parent, uint32_t function)
{
	uint32_t found = HASH_FIND(i, &cct->by_path, hash_key(parent, function),
		cct->node[i].parent == parent && cct->node[i].function == function);

	return found != HASH_NONE ? found : CCT_ROOT;
}

uint32_t cct_child(struct cct *cct, uint32_t parent, uint32_t function)
{
	uint32_t recent = cct->node[parent].recent;

	if (recent && cct->node[recent].function == function)
		return recent;
	uint32_t found = cct_find(cct, parent, function);
	if (found != CCT_ROOT)
		return cct->node[parent].recent = found;
	if (cct->nodes == cct->most)
		return CCT_ROOT;
	if (cct->nodes == cct->room) {
		cct->room *= 2;
		cct->node = memory_resize(cct->node, cct->room, sizeof(*cct->node));
	}
	uint32_t number = cct->nodes++;
	memory_hash(&cct->by_path, hash_key(parent, function), number);
	cct->node[number] = (struct cct_node){
		.function = function,
		.parent = parent,
		.next = cct->node[parent].child,
		.depth = cct->node[parent].depth + 1,
	};
	cct->node[parent].child = cct->node[parent].recent = number;
	return number;
}

/* ---- calls ---- */

/* As what a call in that one, and around this one, has in user[0]; `around` if nobody places it elsewhere. */
static uint32_t placed(struct cct *cct, const struct xaudit_read_call *call, uint32_t around)
{
	uint32_t node = CCT_ROOT;
	bool all = true;

	if (!cct->place || !cct->place(cct->user, cct, call, &node, &all))
		return around;
	return (node + 1) | (all ? 0 : USER_FOLDED);
}

/* Gives a call its node below `around`, what the call around it has in user[0]. */
static void place(struct cct *cct, struct xaudit_read_call *call, uint32_t around)
{
	around = placed(cct, call, around);
	uint32_t child = around & USER_FOLDED ? CCT_ROOT :
						cct_child(cct, around ? around - 1 : CCT_ROOT, call->function->number);

	call->user[0] &= ~(uint64_t)USER_LOW;
	if (child)
		call->user[0] |= child + 1;
	else
		call->user[0] |= (around ? around : CCT_ROOT + 1) | USER_FOLDED;
}

void cct_enter_root(struct cct *cct, struct xaudit_read_call *call)
{
	place(cct, call, 0);
}

void cct_enter(struct cct *cct, struct xaudit_read_call *call)
{
	uint32_t count = 0;

	/* Not by recursion: there may be millions of open calls. */
	for (; call && !(call->user[0] & USER_LOW); call = call->parent) {
		if (count == cct->path_room) {
			cct->path_room = count ? count * 2 : ROOM_FIRST;
			cct->path = memory_resize(cct->path, cct->path_room, sizeof(*cct->path));
		}
		cct->path[count++] = call;
	}
	while (count--) {
		place(cct, cct->path[count], call ? (uint32_t)call->user[0] : 0);
		call = cct->path[count];
	}
}

uint32_t cct_hit_at(struct cct *cct, uint32_t node, uint32_t number)
{
	uint32_t child = cct_child(cct, node, number);

	if (child)
		cct->node[child].calls++;
	else
		cct->folded++;
	return child;
}

uint32_t cct_hit(struct cct *cct, struct xaudit_read_call *call, uint32_t number)
{
	if (!call)
		return cct_hit_at(cct, CCT_ROOT, number);
	cct_enter(cct, call);
	if (!(call->user[0] & USER_FOLDED))
		return cct_hit_at(cct, ((uint32_t)call->user[0] & USER_NODE) - 1, number);
	cct->folded++;
	return CCT_ROOT;
}

/* Makes room for the sums of one more function. */
static __attribute__((noinline)) void grow_functions(struct cct *cct, uint32_t number)
{
	uint32_t functions = number < ROOM_FIRST / 2 ? ROOM_FIRST : number * 2;

	cct->function = memory_resize(cct->function, functions, sizeof(*cct->function));
	memset(cct->function + cct->functions, 0, (functions - cct->functions) * sizeof(*cct->function));
	cct->functions = functions;
}

static struct cct_function *function_of(struct cct *cct, uint32_t number)
{
	if (number >= cct->functions)
		grow_functions(cct, number);
	return &cct->function[number];
}

const struct cct_function *cct_function(const struct cct *cct, uint32_t number)
{
	static const struct cct_function none;

	return number < cct->functions ? &cct->function[number] : &none;
}

/* cpu: CPU_UNKNOWN: how much of the time was on a processor is not known. */
static struct cct_time time_of(uint64_t time, uint64_t cpu)
{
	if (cpu == CPU_UNKNOWN)
		return (struct cct_time){ .time = time };
	return (struct cct_time){ .time = time, .timed = time, .cpu = cpu < time ? cpu : time };
}

void cct_add(struct cct_time *to, const struct cct_time *from)
{
	to->time += from->time;
	to->timed += from->timed;
	to->cpu += from->cpu;
}

/* The processor time of a call with those in it. Of one without end: that of those in it. */
static uint64_t cpu_of(const struct xaudit_read_call *call)
{
	if (call->how == XAUDIT_READ_POINT)
		return CPU_UNKNOWN;
	/* UNKNOWN is CPU_UNKNOWN */
	return call->end == XAUDIT_READ_UNKNOWN ? call->user[1] : call->ticks.cpu;
}
_Static_assert(XAUDIT_READ_UNKNOWN == CPU_UNKNOWN, "cpu_of() takes one for the other");

/* Tells the call around it. */
static void tell_cpu(struct xaudit_read_call *call)
{
	uint64_t cpu = cpu_of(call);

	if (call->how != XAUDIT_READ_POINT && call->parent && call->parent->user[1] != CPU_UNKNOWN)
		call->parent->user[1] = cpu == CPU_UNKNOWN ? CPU_UNKNOWN : call->parent->user[1] + cpu;
}

void cct_times(const struct xaudit_read_call *call, struct cct_time *own, struct cct_time *all)
{
	uint64_t inside = call->user[1], cpu = cpu_of(call), own_cpu = CPU_UNKNOWN;

	if (cpu != CPU_UNKNOWN && inside != CPU_UNKNOWN)
		own_cpu = cpu > inside ? cpu - inside : 0;
	*own = time_of(call->ticks.self, own_cpu);
	*all = time_of(call->ticks.self + call->ticks.children, cpu);
}

uint32_t cct_take(struct cct *cct, struct xaudit_read_call *call)
{
	cct_enter(cct, call);

	struct cct_time own, all;
	cct_times(call, &own, &all);
	tell_cpu(call);
	uint32_t number = ((uint32_t)call->user[0] & USER_NODE) - 1;
	struct cct_node *node = &cct->node[number];
	bool folded = call->user[0] & USER_FOLDED, loose = !call->parent || call->parent->start < cct->from;

	if (!cct->nodes_only) {
		struct cct_function *function = function_of(cct, call->function->number);
		function->calls++;
		function->total += call->ticks.total;
		cct_add(&function->own, &own);
	}
	cct_add(&node->own, &own);
	if (folded) {
		cct->folded++;
		/* It is no call of this node, and in no call of it that is in the tree. */
		if (loose) {
			cct_add(&node->all, &all);
			cct_add(&node->loose, &all);
		}
		return number;
	}
	node->calls++;
	node->total += call->ticks.total;
	cct_add(&node->all, &all);
	if (loose)
		cct_add(&node->loose, &all);
	return number;
}

/* ---- when all calls are there ---- */

void cct_sum(struct cct *cct)
{
	/* From the leaves on: `loose` grows to all that is in no call of the node's parent. */
	for (uint32_t i = cct->nodes - 1; i; i--) {
		struct cct_node *parent = &cct->node[cct->node[i].parent];

		cct_add(&parent->all, &cct->node[i].loose);
		cct_add(&parent->loose, &cct->node[i].loose);
	}
}

void cct_to_ns(const struct xaudit_read_calls *calls, struct cct_time *time)
{
	time->time = xaudit_read_calls_ns(calls, time->time);
	time->timed = xaudit_read_calls_ns(calls, time->timed);
	time->cpu = xaudit_read_calls_ns(calls, time->cpu);
}

void cct_convert(struct cct *cct, const struct xaudit_read_calls *calls)
{
	for (uint32_t i = 0; i < cct->nodes; i++) {
		struct cct_node *node = &cct->node[i];

		node->total = xaudit_read_calls_ns(calls, node->total);
		cct_to_ns(calls, &node->own);
		cct_to_ns(calls, &node->all);
		cct_to_ns(calls, &node->loose);
	}
	for (uint32_t i = 0; i < cct->functions; i++) {
		cct->function[i].total = xaudit_read_calls_ns(calls, cct->function[i].total);
		cct_to_ns(calls, &cct->function[i].own);
	}
}

/* A node of another tree: its sums, but for those of a folded one, which has no node here. */
static void add_node(struct cct_node *to, const struct cct_node *from)
{
	to->calls += from->calls;
	to->total += from->total;
	cct_add(&to->own, &from->own);
	cct_add(&to->all, &from->all);
	cct_add(&to->loose, &from->loose);
}

static void add_functions(struct cct *to, const struct cct *from, const uint32_t *number, uint32_t numbers)
{
	for (uint32_t i = 0; i < from->functions && i < numbers; i++) {
		const struct cct_function *sums = &from->function[i];
		if (!sums->calls)
			continue;
		struct cct_function *function = function_of(to, number[i]);
		function->calls += sums->calls;
		function->total += sums->total;
		cct_add(&function->own, &sums->own);
	}
}

void cct_merge(struct cct *to, const struct cct *from, const uint32_t *number, uint32_t numbers, uint32_t *in)
{
	/* The node that a node's own time goes to: its own, or that of the nearest one around it that has one. */
	uint32_t *at = memory_zeroed(from->nodes, sizeof(*at));

	add_node(&to->node[CCT_ROOT], &from->node[CCT_ROOT]);
	in[CCT_ROOT] = CCT_ROOT;
	for (uint32_t i = 1; i < from->nodes; i++) {
		const struct cct_node *node = &from->node[i];
		uint32_t function = node->function < numbers ? number[node->function] : node->function;
		bool folded = node->parent && !in[node->parent];

		in[i] = folded ? CCT_ROOT : cct_child(to, at[node->parent], function);
		at[i] = in[i] ? in[i] : at[node->parent];
		if (in[i]) {
			add_node(&to->node[in[i]], node);
			continue;
		}
		cct_add(&to->node[at[i]].own, &node->own);
		to->folded += node->calls;
	}
	to->folded += from->folded;
	add_functions(to, from, number, numbers);
	free(at);
}

static int by_keys(const struct cct_node *a, const struct cct_node *b, uint64_t x, uint64_t y)
{
	if (x != y)
		return x > y ? -1 : 1;
	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static int by_time(const void *x, const void *y)
{
	const struct cct_node *a = *(struct cct_node *const *)x, *b = *(struct cct_node *const *)y;

	return by_keys(a, b, a->all.time, b->all.time);
}

static int by_total(const void *x, const void *y)
{
	const struct cct_node *a = *(struct cct_node *const *)x, *b = *(struct cct_node *const *)y;

	return by_keys(a, b, a->total, b->total);
}

void cct_sort(struct cct *cct, bool total)
{
	struct cct_node **child = NULL;
	uint32_t room = 0;

	for (uint32_t i = 0; i < cct->nodes; i++) {
		uint32_t count = 0, *link = &cct->node[i].child;

		for (uint32_t c = *link; c; c = cct->node[c].next) {
			if (count == room) {
				room = room ? room * 2 : ROOM_FIRST;
				child = memory_resize(child, room, sizeof(*child));
			}
			child[count++] = &cct->node[c];
		}
		if (count < 2)
			continue;
		qsort(child, count, sizeof(*child), total ? by_total : by_time);
		for (uint32_t c = 0; c < count; c++) {
			*link = (uint32_t)(child[c] - cct->node);
			link = &child[c]->next;
		}
		*link = CCT_ROOT;
	}
	free(child);
}

void cct_paths_open(struct cct_paths *paths, const struct cct *cct)
{
	*paths = (struct cct_paths){ .cct = cct };
	paths->up = memory_resize(NULL, cct->nodes, sizeof(*paths->up));
	for (uint32_t i = 0; i < cct->nodes; i++)
		paths->up[i] = (struct cct_up){ cct->node[i].parent, cct->node[i].function };
}

uint32_t cct_paths_of(struct cct_paths *paths, uint32_t node)
{
	uint32_t depth = paths->cct->node[node].depth;

	if (depth > paths->room) {
		paths->room = depth * 2;
		paths->function = memory_resize(paths->function, paths->room, sizeof(*paths->function));
	}
	for (uint32_t n = depth; n--; node = paths->up[node].parent)
		paths->function[n] = paths->up[node].function;
	return depth;
}

void cct_paths_close(struct cct_paths *paths)
{
	free(paths->up);
	free(paths->function);
}

uint32_t cct_next(const struct cct *cct, uint32_t top, uint32_t node, bool skip)
{
	if (!skip && cct->node[node].child)
		return cct->node[node].child;
	for (; node != top; node = cct->node[node].parent)
		if (cct->node[node].next)
			return cct->node[node].next;
	return CCT_ROOT;
}
