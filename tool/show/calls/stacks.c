/* SPDX-License-Identifier: MIT */
/* xaudit stacks: the stacks of calls with the most time of their own. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/calls/backtraces.h"
#include "tool/show/calls/cct.h"
#include "tool/show/calls/flame.h"
#include "tool/show/calls/tree.h"
#include "tool/show/calls/view.h"
#include "tool/show/term/srcline.h"

enum sort { SORT_SELF, SORT_CPU, SORT_WAITING, SORT_CALLS };
enum format { FORMAT_TEXT, FORMAT_FOLDED, FORMAT_JSON, FORMAT_SVG };

#define STACKS_MOST 10 /* that are shown as text or JSON */
#define FRAMES_MOST 64 /* lines of a stack */

struct own {
	struct view_options options;
	int sort;	/* enum sort */
	uint32_t count; /* 0: not given */
	bool by_backtraces;
	/* What was read: */
	struct cct cct; /* of all traces, in ns */
	struct backtraces backtraces;
	struct view_left left;
	uint64_t probes; /* events of probes, as far as was read */
	bool cpu;
	const struct cct_node **stack; /* the innermost functions, sorted */
	uint32_t stacks;
	uint32_t without; /* of these, at the end: those with nothing of what they are sorted by */
	uint64_t whole;
};

static uint64_t waiting_of(const struct cct_node *node)
{
	return node->own.timed - node->own.cpu;
}

static uint64_t key_of(const struct cct_node *node, int sort)
{
	switch (sort) {
	case SORT_CPU:
		return node->own.cpu;
	case SORT_WAITING:
		return waiting_of(node);
	case SORT_CALLS:
		return node->calls;
	default:
		return node->own.time;
	}
}

static int sort; /* for qsort */

static int by_key(const void *x, const void *y)
{
	const struct cct_node *a = *(const struct cct_node *const *)x, *b = *(const struct cct_node *const *)y;
	uint64_t left = key_of(a, sort), right = key_of(b, sort);

	if (left != right)
		return left > right ? -1 : 1;
	if (!left && a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return a < b ? -1 : a > b; /* in the order in which they were met */
}

static void find_stacks(struct own *own)
{
	own->stack = memory_zeroed(own->cct.nodes, sizeof(*own->stack));
	for (uint32_t i = 1; i < own->cct.nodes; i++) {
		const struct cct_node *node = &own->cct.node[i];

		/* Calls may be too short for the clock, or have no time: they are in the list all the same. */
		if (!node->calls && !node->own.time)
			continue;
		own->stack[own->stacks++] = node;
		own->without += !key_of(node, own->sort);
	}
	sort = own->sort;
	qsort(own->stack, own->stacks, sizeof(*own->stack), by_key);
}

/* NULL: it is a caller of a backtrace, or a probe. */
static const struct xaudit_read_function *function_of(const struct own *own, uint32_t number)
{
	return backtraces_has(number) || probe_rows_has(number) ? NULL : view_function(&own->options, number);
}

/* ---- text ---- */

static void print_frame(const struct own *own, uint32_t number, uint32_t frame)
{
	printf("%*s#%-3" PRIu32 " ", 4, "", frame);
	if (!backtraces_has(number))
		view_print_number(&own->options, number, own->options.color);
	else
		backtraces_print(&own->backtraces, number, own->options.color);
	putchar('\n');
}

static void print_stack(const struct own *own, uint32_t number)
{
	const struct cct_node *node = own->stack[number];
	const struct show_colors *color = own->options.color;
	char buf[SHOW_TIME_SIZE], share[SHOW_TIME_SIZE];
	uint32_t frame = 0, frames = node->depth;

	printf("%s%" PRIu32 ". %s%s, %" PRIu64 " %s%s", color->head, number + 1,
		view_share(share, key_of(node, own->sort), own->whole), color->off, node->calls,
		probe_rows_has(node->function) ? "event" : "call", show_s(node->calls));
	if (!probe_rows_has(node->function))
		printf(", self %s", node->own.time ? show_time(buf, node->own.time) : "-");
	if (node->own.timed) {
		printf(", on CPU %s", show_time(buf, node->own.cpu));
		printf(", waiting %s", show_time(buf, waiting_of(node)));
		if (node->own.timed < node->own.time)
			printf(", not known %s", show_time(buf, node->own.time - node->own.timed));
	}
	putchar('\n');
	for (; node->depth && !show_output_broken(); node = &own->cct.node[node->parent], frame++) {
		if (frame == FRAMES_MOST / 2 && frames > FRAMES_MOST)
			printf("      ... %" PRIu32 " calls ...\n", frames - FRAMES_MOST);
		if (frame >= FRAMES_MOST / 2 && node->depth > FRAMES_MOST / 2)
			continue;
		print_frame(own, node->function, frame);
	}
}

static const char *what_is_none(int sort)
{
	return sort == SORT_CPU ? "no time on a processor" : sort == SORT_WAITING ? "not waited" :
	       sort == SORT_CALLS ? "no calls" : "no self time";
}

/* Has the functions met that are shown: those of some stacks, of all that there are. */
static void meet(const struct own *own, uint32_t stacks)
{
	for (uint32_t i = 0; i < stacks; i++)
		for (const struct cct_node *node = own->stack[i]; node->depth; node = &own->cct.node[node->parent]) {
			const struct xaudit_read_function *function = function_of(own, node->function);
			if (function)
				names_meet(function->name);
			else if (backtraces_has(node->function))
				backtraces_meet(&own->backtraces, node->function);
		}
}

static void print_text(const struct own *own)
{
	uint32_t most = own->count ? own->count : STACKS_MOST;

	meet(own, most < own->stacks ? most : own->stacks);
	for (uint32_t i = 0; i < own->stacks && i < most && !show_output_broken(); i++) {
		print_stack(own, i);
		putchar('\n');
	}
	term_rows(false);
	if (!own->stacks)
		puts("no call with a stack is in the trace; `xaudit report` lists all");
	if (own->probes && own->sort != SORT_CALLS)
		puts("events of probes have no time: --sort=calls has their stacks");
	if (own->stacks > most)
		printf("%" PRIu32 " more stack%s the rest: see -n\n", own->stacks - most,
			own->stacks - most == 1 ? " has" : "s have");
	if (own->without)
		printf("%" PRIu32 " stack%s %s: %s last\n", own->without, own->without == 1 ? " has" : "s have",
			what_is_none(own->sort), own->without == 1 ? "it comes" : "they come");
	if (own->cct.folded)
		printf("%" PRIu64 " calls are in the self time of those around them: there are more than %" PRIu32
		       " stacks\n",
			own->cct.folded, own->cct.most);
	view_say_left(&own->options, &own->left);
}

/* The name of what is no function; the caller frees it. */
static char *name_other(const struct own *own, uint32_t number)
{
	if (probe_rows_has(number))
		return memory_format("probe %s", probe_rows_probe(&own->options.probe, number)->name);
	return backtraces_name(&own->backtraces, number);
}

/* ---- folded ---- */

static void fold_frame(const struct own *own, uint32_t number)
{
	const struct xaudit_read_function *function = function_of(own, number);

	if (function) {
		names_fold(stdout, names_full(function->name));
		return;
	}
	char *name = name_other(own, number);
	names_fold(stdout, name);
	free(name);
}

static void print_folded(const struct own *own)
{
	/* What is 0 has no width in a picture. */
	uint32_t stacks = own->stacks - own->without;
	struct cct_paths paths;

	cct_paths_open(&paths, &own->cct);
	for (uint32_t i = 0; i < stacks && (!own->count || i < own->count) && !show_output_broken(); i++) {
		uint32_t depth = cct_paths_of(&paths, (uint32_t)(own->stack[i] - own->cct.node));

		for (uint32_t n = 0; n < depth; n++) {
			fold_frame(own, paths.function[n]);
			putchar(n + 1 < depth ? ';' : ' ');
		}
		printf("%" PRIu64 "\n", key_of(own->stack[i], own->sort));
	}
	cct_paths_close(&paths);
}

/* ---- JSON ---- */

static void json_frame(const struct own *own, uint32_t number)
{
	if (backtraces_has(number)) {
		backtraces_json(&own->backtraces, number);
		return;
	}
	putchar('{');
	view_json_number(&own->options, number);
	putchar('}');
}

static void print_json(const struct own *own)
{
	uint32_t most = own->count ? own->count : STACKS_MOST;

	printf("{\"stacks\":[");
	for (uint32_t i = 0; i < own->stacks && i < most && !show_output_broken(); i++) {
		const struct cct_node *node = own->stack[i];

		if (probe_rows_has(node->function)) {
			printf("%s\n{\"events\":%" PRIu64, i ? "," : "", node->calls);
		} else {
			printf("%s\n{\"calls\":%" PRIu64 ",", i ? "," : "", node->calls);
			tree_json_time("self", &node->own, own->cpu);
		}
		printf(",\"frames\":[");
		for (bool some = false; node->depth; node = &own->cct.node[node->parent], some = true) {
			fputs(some ? "," : "", stdout);
			json_frame(own, node->function);
		}
		printf("]}");
	}
	printf("\n],\"stacks_in_all\":%" PRIu32 ",\"stacks_without\":%" PRIu32 ",\"folded\":%" PRIu64 ",",
		own->stacks, own->without, own->cct.folded);
	view_json_left(&own->options, &own->left);
	puts("}");
}

/* ---- SVG ---- */

static struct flame_name name_frame(void *user, uint32_t number)
{
	const struct own *own = user;
	const struct xaudit_read_function *function = function_of(own, number);
	const char *name = function ? names_shown(function->name) : NULL;

	if (!function)
		return (struct flame_name){ name_other(own, number),
			probe_rows_has(number) ? probe_rows_probe(&own->options.probe, number)->object->path : NULL };
	return (struct flame_name){ memory_text(name, strlen(name)), function->object->path };
}

static void print_svg(const struct own *own)
{
	static const char *const whats[] = { [SORT_SELF] = "self time", [SORT_CPU] = "time on a processor",
		[SORT_WAITING] = "time waited", [SORT_CALLS] = "number of calls" };
	const struct xaudit_read_trace_info *info = xaudit_read_trace_info(own->options.many.trace[0]);
	struct flame_frame *frame = memory_zeroed(own->cct.nodes, sizeof(*frame));
	char *title = own->options.many.traces > 1
		? memory_format("Flame graph of %" PRIu32 " traces", own->options.many.traces)
		: memory_format("Flame graph of %s", info->command ? info->command : info->path);

	for (uint32_t i = 1; i < own->cct.nodes; i++)
		frame[i] = (struct flame_frame){ own->cct.node[i].parent, own->cct.node[i].function, 0,
			own->cct.node[i].calls };
	for (uint32_t i = 0; i < own->stacks && (!own->count || i < own->count); i++)
		frame[own->stack[i] - own->cct.node].own = key_of(own->stack[i], own->sort);
	struct flame flame = { .frame = frame, .frames = own->cct.nodes, .counts = own->sort == SORT_CALLS,
		.title = title, .what = whats[own->sort], .name = name_frame, .user = (void *)(uintptr_t)own,
		.note = view_has_left(&own->options, &own->left) || own->cct.folded
			? "Some calls have no time, or are not here: the text form tells." : NULL };
	flame_draw(stdout, &flame);
	free(title);
	free(frame);
}

static void print(const struct own *own)
{
	if (own->options.show.json == FORMAT_FOLDED)
		print_folded(own);
	else if (own->options.show.json == FORMAT_JSON)
		print_json(own);
	else if (own->options.show.json == FORMAT_SVG)
		print_svg(own);
	else
		print_text(own);
}

/* ---- the command ---- */

static const struct options_row rows[] = {
	{ 'n', "count", "N", "so many stacks (default: " OPTIONS_NUMBER(STACKS_MOST) "; of folded ones all)",
		.take = options_number,
		.most = UINT32_MAX, .at = offsetof(struct own, count), .allowed = "a number from 1 up" },
	{ 0, "sort", "KEY", "by self (default), cpu, waiting, or calls; the last column of\nfolded stacks, too",
		.take = options_word, .at = offsetof(struct own, sort), .allowed = "self, cpu, waiting or calls" },
	{ 0, "backtraces", NULL, "callers as recorded backtraces tell, traced or not", .take = options_flag,
		.at = offsetof(struct own, by_backtraces) },
	SHOW_FORMAT("text, folded, json or svg",
		"text (default), folded (for flamegraph.pl), json, or svg (a\nflame graph)"),
	SRCLINE_ROW,
	VIEW_ROWS
};

static const struct options_syntax syntax = {
	.command = "stacks",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit stacks [OPTION]... [DIR]...\n"
		"Shows the stacks of calls that had the most time of their own, from the traces\n"
		"in DIR (default: " TOOL_FOLDER ").\n"
		"\n"
		"Options:\n",
};

static bool has_switches(const struct own *own)
{
	if (own->cpu || (own->sort != SORT_CPU && own->sort != SORT_WAITING))
		return true;
	tool_error("stacks", "what was on a processor, and what waited, is not in this trace; `xaudit record --sched` "
			     "records it");
	return false;
}

/* Adds the tree of a trace, of which all calls were read. */
static void add_tree(struct own *own, uint32_t trace, struct cct *cct, const struct xaudit_read_calls *calls)
{
	const struct functions_of *of = &own->options.functions.of[trace];
	uint64_t whole = 0;

	for (uint32_t i = 1; i < cct->nodes; i++)
		whole += key_of(&cct->node[i], own->sort);
	own->whole += own->sort == SORT_CALLS ? whole : xaudit_read_calls_ns(calls, whole);
	cct_convert(cct, calls);
	if (!trace) {
		own->cct = *cct; /* its functions have the numbers of the list */
		return;
	}
	uint32_t *in = memory_zeroed(cct->nodes, sizeof(*in));
	cct_merge(&own->cct, cct, of->number, of->known, in);
	free(in);
	cct_close(cct);
}

/* Below the callers of its backtrace, if these are asked for and it has one. */
static void take_probe(struct own *own, struct cct *cct, const struct xaudit_read_item *item)
{
	const struct xaudit_read_stack *stack = own->by_backtraces ? xaudit_read_stack(item->values) : NULL;
	uint32_t number, node;

	if (!view_takes_probe(&own->options, item))
		return;
	number = view_probe(&own->options, item->probe);
	if (!stack)
		cct_hit(cct, item->call, number);
	else if (backtraces_node(&own->backtraces, cct, stack, &node))
		cct_hit_at(cct, node, number);
	else
		cct->folded++;
}

static void read_trace(struct own *own, uint32_t number)
{
	struct xaudit_read_trace *trace = own->options.many.trace[number];
	struct xaudit_read_calls *calls = view_begin(trace, &own->options, false);
	struct xaudit_read_item item;
	struct cct cct;

	cct_open(&cct, CCT_MOST);
	if (own->by_backtraces)
		backtraces_begin(&own->backtraces, &cct);
	cct.from = view_from(trace, &own->options);
	for (int what; (what = view_next(calls, &item, &own->left)) != XAUDIT_READ_END;) {
		if (what == XAUDIT_READ_PROBE) {
			take_probe(own, &cct, &item);
			continue;
		}
		view_count_left(&own->left, item.call);
		cct_take(&cct, item.call);
	}
	own->probes += xaudit_read_calls_sums(calls)->probes;
	view_end(&own->options, number, &own->left);
	add_tree(own, number, &cct, calls);
	xaudit_read_calls_close(calls);
}

/* Returns whether there is what was asked for. */
static bool read_calls(struct own *own)
{
	own->backtraces.places = srcline_wanted() && own->options.show.json != FORMAT_FOLDED;
	for (uint32_t t = 0; t < own->options.many.traces; t++)
		read_trace(own, t);
	find_stacks(own);
	if (!own->by_backtraces || own->backtraces.calls)
		return true;
	if (own->probes && own->sort != SORT_CALLS)
		tool_error("stacks", "no call with a backtrace is in the trace; events of probes have no time: see "
				     "--sort=calls");
	else
		tool_error("stacks", "no call with a backtrace is in the trace; `xaudit record --context "
				     "FUNC:backtrace` records them");
	return false;
}

int stacks_main(int argc, char **argv)
{
	struct own own = { 0 };
	int status = view_open(&own.options, &syntax, argc, argv, NULL, false);

	if (status >= 0)
		return status;
	own.cpu = many_have_sched(&own.options.many);
	if (!has_switches(&own))
		return view_close(&own.options, TOOL_FAILED);
	own.options.values = own.by_backtraces;
	own.options.probes = own.sort == SORT_CALLS;
	bool found = read_calls(&own);
	if (found)
		print(&own);
	view_left_free(&own.left);
	free(own.stack);
	cct_close(&own.cct);
	backtraces_free(&own.backtraces);
	return view_close(&own.options, found ? TOOL_OK : TOOL_FAILED);
}
