/* SPDX-License-Identifier: MIT */
#include "tool/html/flame.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/calls/cct.h"

#define NODES_MOST 65536u /* that are counted: more of them would not stay in the caches */
#define NODES_SHOWN 20000u
#define EDGES_SHOWN 50000u

#define OTHERS UINT32_MAX /* as a caller: functions without a number of their own, or all that have too little time */

struct edge {
	uint32_t caller, callee; /* caller: the number + 1; 0: none */
	uint64_t calls, total, self; /* ticks, until they are written */
};

struct page_flame {
	const struct html *html;
	struct xaudit_read_trace *trace;
	struct xaudit_read_calls *calls;
	pthread_t thread;
	bool runs;
	struct page_functions_map map;
	struct cct cct;
	struct edge *edge;
	uint32_t edges;
	struct hash by_pair;
	uint64_t *folded; /* of each node: the own time of the calls that were folded into it, which is not its own */
};

/* ---- the pass ---- */

static void add_edge(
	struct page_flame *flame, uint32_t caller, uint32_t callee, uint64_t calls, uint64_t total, uint64_t self)
{
	uint32_t hash = hash_key(caller, callee);
	uint32_t found = HASH_FIND(i, &flame->by_pair, hash,
		flame->edge[i].caller == caller && flame->edge[i].callee == callee);

	if (found == HASH_NONE) {
		flame->edge = memory_grow(flame->edge, flame->edges, sizeof(*flame->edge));
		memory_hash(&flame->by_pair, hash, flame->edges);
		flame->edge[flame->edges] = (struct edge){ .caller = caller, .callee = callee };
		found = flame->edges++;
	}
	flame->edge[found].calls += calls;
	flame->edge[found].total += total;
	flame->edge[found].self += self;
}

static uint32_t number_of(struct page_flame *flame, const struct xaudit_read_function *function)
{
	return page_functions_map_number(&flame->html->functions, &flame->map, function);
}

/* The function of a node; and, 1 more, that of the node around it; 0: there is none. When all calls were read. */
static uint32_t function_of(struct page_flame *flame, struct html *html, uint32_t node)
{
	return page_functions_caller(&html->functions, &flame->map,
		xaudit_read_function(flame->trace, flame->cct.node[node].function));
}

static uint32_t caller_of(struct page_flame *flame, struct html *html, uint32_t node)
{
	uint32_t parent = flame->cct.node[node].parent;

	return parent ? function_of(flame, html, parent) + 1 : 0;
}

static void take(struct page_flame *flame, struct xaudit_read_call *call)
{
	uint64_t folded = flame->cct.folded;
	uint32_t node = cct_take(&flame->cct, call);

	if (__builtin_expect(flame->cct.folded == folded, 1))
		return;
	uint32_t caller = call->parent ? number_of(flame, call->parent->function) + 1 : 0;
	caller = caller <= flame->html->functions.shown ? caller : OTHERS;
	add_edge(flame, caller, number_of(flame, call->function), 1, call->ticks.total, call->ticks.self);
	flame->folded[node] += call->ticks.self;
}

static void *go_through(void *arg)
{
	struct page_flame *flame = arg;
	struct xaudit_read_item item;
	struct xaudit_read_error error;
	int what;

	while ((what = xaudit_read_next_call(flame->calls, &item)) != XAUDIT_READ_END)
		if (what == XAUDIT_READ_CALL)
			take(flame, item.call);
	if (xaudit_read_damage(flame->trace, &error) && error.why == XAUDIT_READ_NO_MEMORY)
		memory_failed();
	return NULL;
}

struct page_flame *page_flame_begin(struct html *html)
{
	struct page_flame *flame = memory_zeroed(1, sizeof(*flame));
	const struct xaudit_read_options options = { .size = sizeof(options), .pid = html->options.show.pid };
	struct xaudit_read_error error;

	flame->html = html;
	flame->trace = xaudit_read_open(xaudit_read_trace_info(html->trace)->path, &options, &error);
	if (!flame->trace) {
		tool_error("html", "%s", error.text);
		exit(TOOL_FAILED);
	}
	flame->calls = html_pass(html, flame->trace, false, false);
	cct_open(&flame->cct, NODES_MOST);
	flame->cct.from = view_from(html->trace, &html->options);
	flame->folded = memory_zeroed(NODES_MOST, sizeof(*flame->folded));
	flame->runs = !pthread_create(&flame->thread, NULL, go_through, flame);
	if (!flame->runs)
		go_through(flame);
	return flame;
}

static void join(struct page_flame *flame)
{
	if (flame->runs)
		pthread_join(flame->thread, NULL);
	flame->runs = false;
}

void page_flame_close(struct page_flame *flame)
{
	join(flame);
	xaudit_read_close(flame->trace);
	cct_close(&flame->cct);
	free(flame->map.number);
	free(flame->edge);
	free(flame->folded);
	hash_free(&flame->by_pair);
	free(flame);
}

/* ---- callers and callees ---- */

static int by_total(const void *x, const void *y)
{
	const struct edge *a = x, *b = y;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return a->callee != b->callee ? (a->callee < b->callee ? -1 : 1) : a->caller < b->caller ? -1 : 1;
}

/* Those with the least time become one for each function that is called. */
static void cut_edges(struct page_flame *flame)
{
	struct page_flame less = { 0 };

	for (uint32_t i = EDGES_SHOWN / 2; i < flame->edges; i++)
		add_edge(&less, OTHERS, flame->edge[i].callee, flame->edge[i].calls,
			flame->edge[i].total, flame->edge[i].self);
	flame->edges = EDGES_SHOWN / 2;
	for (uint32_t i = 0; i < less.edges; i++) {
		flame->edge = memory_resize(flame->edge, flame->edges + 1ul, sizeof(*flame->edge));
		flame->edge[flame->edges++] = less.edge[i];
	}
	free(less.edge);
	hash_free(&less.by_pair);
}

static void write_edges(struct page_flame *flame, struct html *html)
{
	struct container c;

	for (uint32_t i = 1; i < flame->cct.nodes; i++) {
		const struct cct_node *node = &flame->cct.node[i];
		add_edge(flame, caller_of(flame, html, i), function_of(flame, html, i), node->calls, node->total,
			node->own.time - flame->folded[i]);
	}
	if (flame->edges)
		qsort(flame->edge, flame->edges, sizeof(*flame->edge), by_total);
	if (flame->edges > EDGES_SHOWN)
		cut_edges(flame);
	uint64_t (*row)[5] = memory_zeroed(flame->edges + 1ul, sizeof(*row));
	for (uint32_t i = 0; i < flame->edges; i++) {
		const struct edge *edge = &flame->edge[i];
		row[i][0] = edge->caller == OTHERS ? html->functions.shown + 1 : edge->caller;
		row[i][1] = edge->callee;
		row[i][2] = edge->calls;
		row[i][3] = xaudit_read_calls_ns(flame->calls, edge->total);
		row[i][4] = xaudit_read_calls_ns(flame->calls, edge->self);
	}
	container_begin(&c);
	container_rows(&c, flame->edges, 5, row[0]);
	blocks_container(&html->blocks, "edges", &c);
	free(row);
}

/* ---- the tree ---- */

static const struct cct *sorted; /* for qsort() */

/* Parents come before their children: they have at least their time, and the lower number. */
static int by_time(const void *x, const void *y)
{
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	uint64_t a = sorted->node[i].all.time, b = sorted->node[k].all.time;

	if (a != b)
		return a > b ? -1 : 1;
	return i < k ? -1 : 1;
}

/* Which nodes are shown: 1 in a list of all. */
static uint8_t *choose(const struct cct *cct, uint32_t *count)
{
	uint8_t *shown = memory_zeroed(cct->nodes, 1);
	uint32_t *order = memory_zeroed(cct->nodes, sizeof(*order));

	for (uint32_t i = 0; i < cct->nodes; i++)
		order[i] = i;
	sorted = cct;
	qsort(order + 1, cct->nodes - 1, sizeof(*order), by_time);
	shown[CCT_ROOT] = 1;
	*count = 0;
	for (uint32_t i = 1; i < cct->nodes && *count < NODES_SHOWN; i++) {
		uint32_t node = order[i];
		shown[node] = shown[cct->node[node].parent];
		*count += shown[node];
	}
	free(order);
	return shown;
}

enum { FUNCTION, PARENT, CALLS, TOTAL, SELF, ALL, TIMED, CPU, FOLDED_CALLS, FOLDED_TIME, COLUMNS };

static void write_tree(struct page_flame *flame, struct html *html, FILE *head)
{
	const struct cct *cct = &flame->cct;
	uint32_t count, used = 0, *number = memory_zeroed(cct->nodes, sizeof(*number));
	uint8_t *shown = choose(cct, &count);
	uint64_t folded = cct->folded;
	uint64_t (*row)[COLUMNS] = memory_zeroed(count + 1ul, sizeof(*row));
	struct container c;

	for (uint32_t i = cct_next(cct, CCT_ROOT, CCT_ROOT, false); i; i = cct_next(cct, CCT_ROOT, i, false)) {
		const struct cct_node *node = &cct->node[i];
		uint32_t parent = number[node->parent];
		if (!shown[i]) {
			number[i] = parent;
			if (!parent) {
				folded += node->calls;
				continue;
			}
			row[parent - 1][FOLDED_CALLS] += node->calls;
			row[parent - 1][FOLDED_TIME] += shown[node->parent] ? node->all.time : 0;
			continue;
		}
		number[i] = ++used;
		uint64_t *to = row[used - 1];
		to[FUNCTION] = function_of(flame, html, i);
		to[PARENT] = parent;
		to[CALLS] = node->calls;
		to[TOTAL] = node->total;
		to[SELF] = node->own.time;
		to[ALL] = node->all.time;
		to[TIMED] = html->cpu ? node->own.timed : 0;
		to[CPU] = html->cpu ? node->own.cpu : 0;
	}
	/* Of what is left out below the root, and of what never had a node, no node tells. */
	fprintf(head, "\"tree\":{\"nodes\":%" PRIu32 ",\"folded\":%" PRIu64 "}", used, folded);
	container_begin(&c);
	container_rows(&c, used, COLUMNS, row[0]);
	blocks_container(&html->blocks, "tree", &c);
	free(row);
	free(shown);
	free(number);
}

void page_flame_write(struct page_flame *flame, struct html *html, FILE *head)
{
	join(flame);
	write_edges(flame, html);
	cct_sum(&flame->cct);
	cct_convert(&flame->cct, flame->calls);
	cct_sort(&flame->cct, false);
	write_tree(flame, html, head);
}
