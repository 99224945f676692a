/* SPDX-License-Identifier: MIT */
#include "tool/export/stacks/callgrind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/export/stacks/merged.h"
#include "tool/show/term/names.h"

struct cost {
	uint64_t ns, calls, cpu;
};

/* A function that calls another one. */
struct edge {
	uint32_t caller, callee;
	uint64_t calls;
	struct cost inside;
};

struct callgrind {
	struct merged merged;
	struct cost *own;   /* by number of a function */
	uint32_t functions;
	struct edge *edge;
	uint32_t edges;
	struct hash table;
	uint32_t *active;   /* by number of a function: on the path to the node at hand */
	struct cost *below; /* by number of a node: of it and all nodes below it */
	/* Numbers of names that were told, from 1 on; 0: not yet. */
	uint32_t *name, names, name_room;
	char **path;
	uint32_t libraries;
	struct hash paths;
};

static void begin(struct export *export)
{
	struct callgrind *callgrind = memory_zeroed(1, sizeof(*callgrind));

	export->state = callgrind;
	merged_begin(&callgrind->merged, export, false);
}

static void leave(struct export *export, const struct export_call *call)
{
	merged_take(&((struct callgrind *)export->state)->merged, call);
}

/* ---- sums ---- */

static void add(struct cost *to, const struct cost *from)
{
	to->ns += from->ns;
	to->calls += from->calls;
	to->cpu += from->cpu;
}

static struct edge *edge_of(struct callgrind *callgrind, uint32_t caller, uint32_t callee)
{
	uint32_t hash = hash_key(caller, callee);
	uint32_t number = HASH_FIND(i, &callgrind->table, hash,
		callgrind->edge[i].caller == caller && callgrind->edge[i].callee == callee);

	if (number == HASH_NONE) {
		number = callgrind->edges++;
		callgrind->edge = memory_grow(callgrind->edge, number, sizeof(*callgrind->edge));
		callgrind->edge[number] = (struct edge){ .caller = caller, .callee = callee };
		memory_hash(&callgrind->table, hash, number);
	}
	return &callgrind->edge[number];
}

/* Sums over each node and those below it, from the leaves on. */
static void sum_below(struct callgrind *callgrind)
{
	const struct cct *cct = &callgrind->merged.cct;

	callgrind->below = memory_zeroed(cct->nodes, sizeof(*callgrind->below));
	for (uint32_t i = cct->nodes - 1; i; i--) {
		const struct cct_node *node = &cct->node[i];
		struct cost own = { node->own.time, node->calls, node->own.cpu };

		add(&callgrind->below[i], &own);
		add(&callgrind->own[node->function], &own);
		add(&callgrind->below[node->parent], &callgrind->below[i]);
	}
}

/* A node that was come to; nodes around it are on the path. */
static void take_node(struct callgrind *callgrind, uint32_t number)
{
	const struct cct_node *node = &callgrind->merged.cct.node[number];
	struct edge *edge;

	if (node->parent == CCT_ROOT)
		return;
	edge = edge_of(callgrind, callgrind->merged.cct.node[node->parent].function, node->function);
	edge->calls += node->calls;
	if (!callgrind->active[node->function])
		add(&edge->inside, &callgrind->below[number]);
}

static void sum(struct export *export)
{
	struct callgrind *callgrind = export->state;
	const struct cct *cct = &callgrind->merged.cct;
	uint32_t at = CCT_ROOT;

	callgrind->functions = xaudit_read_functions(export->trace);
	callgrind->own = memory_zeroed(callgrind->functions + 1, sizeof(*callgrind->own));
	callgrind->active = memory_zeroed(callgrind->functions + 1, sizeof(*callgrind->active));
	sum_below(callgrind);
	/* Down to each node and up again, by `at`, the node that was come from. */
	for (uint32_t next; (next = cct_next(cct, CCT_ROOT, at, false)); at = next) {
		for (; at != cct->node[next].parent; at = cct->node[at].parent)
			callgrind->active[cct->node[at].function]--;
		take_node(callgrind, next);
		callgrind->active[cct->node[next].function]++;
	}
}

static int by_caller(const void *x, const void *y)
{
	const struct edge *a = x, *b = y;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

/* Sums of all, not of what was rounded before: so own times are those of report. */
static void convert(struct export *export, struct cost *cost)
{
	cost->ns = xaudit_read_calls_ns(export->calls, cost->ns);
	cost->cpu = xaudit_read_calls_ns(export->calls, cost->cpu);
}

static void convert_all(struct export *export, struct cost *whole)
{
	struct callgrind *callgrind = export->state;

	for (uint32_t i = 0; i < callgrind->functions; i++) {
		convert(export, &callgrind->own[i]);
		add(whole, &callgrind->own[i]);
	}
	for (uint32_t i = 0; i < callgrind->edges; i++)
		convert(export, &callgrind->edge[i].inside);
}

/* ---- lines ---- */

/* "(3) name", or "(3)" where the name was told. A name can't be taken for a number, which comes first. */
static void put_name(FILE *to, uint32_t number, bool told, const char *name)
{
	fprintf(to, "(%" PRIu32 ")", number);
	if (!told) {
		putc(' ', to);
		tool_text(to, *name ? name : "?");
	}
	putc('\n', to);
}

static void put_function(struct export *export, const char *key, uint32_t number)
{
	struct callgrind *callgrind = export->state;
	uint32_t *told = memory_number(&callgrind->name, &callgrind->name_room, number);
	bool before = *told;

	if (!before)
		*told = ++callgrind->names;
	fputs(key, export->out.file);
	put_name(export->out.file, *told, before, names_full(xaudit_read_function(export->trace, number)->name));
}

static void put_library(struct export *export, const char *key, uint32_t function)
{
	struct callgrind *callgrind = export->state;
	const char *path = xaudit_read_function(export->trace, function)->object->path;
	uint32_t hash = hash_text(0, path);
	uint32_t number = HASH_FIND(i, &callgrind->paths, hash, !strcmp(callgrind->path[i], path));
	bool told = number != HASH_NONE;

	if (!told) {
		number = callgrind->libraries++;
		callgrind->path = memory_grow(callgrind->path, number, sizeof(*callgrind->path));
		callgrind->path[number] = memory_text(path, strlen(path));
		memory_hash(&callgrind->paths, hash, number);
	}
	fputs(key, export->out.file);
	put_name(export->out.file, number + 1, told, path);
}

static void put_cost(const struct export *export, const struct cost *cost)
{
	fprintf(export->out.file, " %" PRIu64 " %" PRIu64, cost->ns, cost->calls);
	if (export->info->sched)
		fprintf(export->out.file, " %" PRIu64, cost->cpu);
	putc('\n', export->out.file);
}

static void put_head(struct export *export, const struct cost *all)
{
	const struct xaudit_read_trace_info *info = export->info;
	FILE *to = export->out.file;

	fputs("# callgrind format\nversion: 1\ncreator: xaudit ", to);
	tool_text(to, xaudit_read_version());
	if (info->command) {
		fputs("\ncmd: ", to);
		tool_text(to, info->command);
	}
	fputs("\npositions: line\nevent: ns : Time\nevent: calls : Calls\n", to);
	if (info->sched)
		fputs("event: cpu : Time on processors\n", to);
	fprintf(to, "events: ns calls%s\nsummary:", info->sched ? " cpu" : "");
	put_cost(export, all);
}

static void put_functions(struct export *export)
{
	struct callgrind *callgrind = export->state;
	uint32_t edge = 0;

	for (uint32_t i = 0; i < callgrind->functions && !ferror(export->out.file); i++) {
		const struct cost *own = &callgrind->own[i];
		bool calls = edge < callgrind->edges && callgrind->edge[edge].caller == i;

		if (!own->ns && !own->calls && !calls)
			continue;
		putc('\n', export->out.file);
		put_library(export, "ob=", i);
		fputs("fl=(1)", export->out.file);
		fputs(callgrind->names ? "\n" : " ???\n", export->out.file);
		put_function(export, "fn=", i);
		putc('0', export->out.file);
		put_cost(export, own);
		for (; edge < callgrind->edges && callgrind->edge[edge].caller == i; edge++) {
			const struct edge *one = &callgrind->edge[edge];

			put_library(export, "cob=", one->callee);
			put_function(export, "cfn=", one->callee);
			fprintf(export->out.file, "calls=%" PRIu64 " 0\n0", one->calls);
			put_cost(export, &one->inside);
		}
	}
}

static void end(struct export *export)
{
	struct callgrind *callgrind = export->state;
	struct cost whole = { 0 };

	merged_end(&callgrind->merged, export);
	sum(export);
	convert_all(export, &whole);
	qsort(callgrind->edge, callgrind->edges, sizeof(*callgrind->edge), by_caller);
	put_head(export, &whole);
	put_functions(export);
	fputs("\ntotals:", export->out.file);
	put_cost(export, &whole);
	merged_free(&callgrind->merged);
	for (uint32_t i = 0; i < callgrind->libraries; i++)
		free(callgrind->path[i]);
	free(callgrind->path);
	hash_free(&callgrind->paths);
	hash_free(&callgrind->table);
	free(callgrind->own);
	free(callgrind->edge);
	free(callgrind->active);
	free(callgrind->below);
	free(callgrind->name);
	free(callgrind);
}

const struct export_format export_callgrind = {
	.name = "callgrind",
	.help = "a profile for KCachegrind and callgrind_annotate",
	.text = true,
	.begin = begin,
	.leave = leave,
	.end = end,
};
