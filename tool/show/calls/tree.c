/* SPDX-License-Identifier: MIT */
#include "tool/show/calls/tree.h"

#include <inttypes.h>

#define LEVELS_MOST 40 /* that are shown as blanks */

void tree_print_heads(const struct tree_view *view)
{
	const struct show_colors *color = view->color;

	printf("%s%11s  %7s", color->head, "Time", "Share");
	if (view->cpu)
		printf("  %11s", "On CPU");
	printf("  %11s  %10s  %s%s\n===========  =======", "Self", "Calls", "Function", color->off);
	if (view->cpu)
		printf("  ===========");
	printf("  ===========  ==========  ====================\n");
}

void tree_print_numbers(
	const struct tree_view *view, uint64_t time, const struct cct_time *all, const uint64_t *self, uint64_t calls)
{
	view_print_time(time, time);
	fputs("  ", stdout);
	view_print_share(time, view->whole);
	if (view->cpu) {
		fputs("  ", stdout);
		/* A part of it would pass for all of it, and the rest for waiting. */
		view_print_time(all && all->timed && all->timed == all->time, all ? all->cpu : 0);
	}
	fputs("  ", stdout);
	view_print_time(self && time, self ? *self : 0);
	printf("  %10" PRIu64 "  ", calls);
}

void tree_print_indent(uint32_t levels)
{
	uint32_t more = levels > LEVELS_MOST ? levels - LEVELS_MOST : 0;

	for (levels -= more; levels; levels--)
		fputs("  ", stdout);
	if (more)
		printf("(+%" PRIu32 ") ", more);
}

static bool is_left_out(const struct tree_view *view, const struct cct_node *node, uint32_t depth)
{
	return (view->depth && depth >= view->depth) || view_is_less(node->all.time, view->whole, view->min);
}

uint64_t tree_print_below(const struct tree_view *view, uint32_t top, uint32_t levels)
{
	const struct cct *cct = view->cct;
	uint64_t left = 0;
	bool skip = false;

	for (uint32_t i = top; (i = cct_next(cct, top, i, skip)) && !show_output_broken();) {
		const struct cct_node *node = &cct->node[i];
		uint32_t depth = node->depth - cct->node[top].depth - 1 + levels;

		skip = is_left_out(view, node, depth);
		if (skip) {
			left++;
			continue;
		}
		tree_print_numbers(
			view, node->all.time, &node->all, node->calls ? &node->own.time : NULL, node->calls);
		tree_print_indent(depth);
		view_print_function(xaudit_read_function(view->trace, node->function), view->color);
		putchar('\n');
	}
	return left;
}

void tree_print_left(uint64_t paths)
{
	if (paths)
		printf("%" PRIu64 " path%s left out: see --min and --depth\n", paths,
			paths == 1 ? ", and what is behind it, is" : "s, and what is behind them, are");
}

void tree_json_time(const char *name, const struct cct_time *time, bool cpu)
{
	printf("\"%s_ns\":%" PRIu64, name, time->time);
	if (cpu && time->timed)
		printf(",\"%s_cpu_ns\":%" PRIu64 ",\"%s_waiting_ns\":%" PRIu64, name, time->cpu, name,
			time->timed - time->cpu);
	else
		printf(",\"%s_cpu_ns\":null,\"%s_waiting_ns\":null", name, name);
}

static void json_node(const struct tree_view *view, uint32_t number, uint32_t depth)
{
	const struct cct_node *node = &view->cct->node[number];

	printf("{\"depth\":%" PRIu32 ",", depth);
	view_json_function(xaudit_read_function(view->trace, node->function));
	printf(",\"calls\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",", node->calls, node->total);
	tree_json_time("time", &node->all, view->cpu);
	putchar(',');
	tree_json_time("self", &node->own, view->cpu);
	putchar('}');
}

void tree_json(const struct tree_view *view, uint32_t top)
{
	const struct cct *cct = view->cct;
	uint32_t first = top ? cct->node[top].depth : 1;
	bool skip = false, some = false;

	putchar('[');
	for (uint32_t i = top ? top : cct_next(cct, top, top, false); i && !show_output_broken();
		i = cct_next(cct, top, i, skip)) {
		uint32_t depth = cct->node[i].depth - first;

		skip = i != top && is_left_out(view, &cct->node[i], depth);
		if (skip)
			continue;
		fputs(some ? ",\n" : "\n", stdout);
		some = true;
		json_node(view, i, depth);
	}
	fputs("\n]", stdout);
}
