/* SPDX-License-Identifier: MIT */
#include "tool/show/calls/tree.h"

#include <inttypes.h>

#include "tool/base/json.h"
#include "tool/show/term/term.h"

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

void tree_print_count(const struct tree_view *view, uint64_t count)
{
	printf("%11s  %7s", "-", "-");
	if (view->cpu)
		printf("  %11s", "-");
	printf("  %11s  %10" PRIu64 "  ", "-", count);
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
	if (view->depth && depth >= view->depth)
		return true;
	/* A probe has no time at all. */
	return !probe_rows_has(node->function) && view_is_less(node->all.time, view->whole, view->min);
}

static bool is_probe(const struct tree_view *view, uint32_t node)
{
	return probe_rows_has(view->cct->node[node].function);
}

/* How many of a node's groups have rows of their own: the others are added up. */
static uint32_t shown_of(
	const struct tree_view *view, uint32_t node, const struct node_value *value, uint32_t count)
{
	uint32_t shown = 0, min = is_probe(view, node) ? 0 : view->min;

	while (shown < count && shown < NODE_VALUES_SHOWN && value[shown].text != NODE_VALUES_OTHERS &&
		!view_is_less(value[shown].all.time, view->whole, min))
		shown++;
	/* One more takes no more room than a row for others. */
	return shown + 1 == count && value[shown].text != NODE_VALUES_OTHERS ? count : shown;
}

static void print_value(const struct tree_view *view, uint32_t node, const struct node_value *value, uint32_t levels)
{
	if (is_probe(view, node))
		tree_print_count(view, value->calls);
	else
		tree_print_numbers(view, value->all.time, &value->all, &value->own.time, value->calls);
	tree_print_indent(levels);
	printf("%s%s", view->color->dim, view->values->name);
}

void tree_print_values(const struct tree_view *view, uint32_t node, uint32_t levels)
{
	uint32_t count = 0, shown;
	const struct node_value *value = view->values ? node_values_of(view->values, node, &count) : NULL;

	if (!count)
		return;
	shown = shown_of(view, node, value, count);
	for (uint32_t i = 0; i < shown; i++) {
		print_value(view, node, &value[i], levels);
		printf(" = %s", view->color->off);
		term_text(stdout, view->values->text[value[i].text]);
		putchar('\n');
	}
	if (shown == count)
		return;
	const struct node_value others = node_values_add(&value[shown], count - shown);
	print_value(view, node, &others, levels);
	printf(": %" PRIu32 " others%s\n", count - shown, view->color->off);
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
		if (is_probe(view, i))
			tree_print_count(view, node->calls);
		else
			tree_print_numbers(
				view, node->all.time, &node->all, node->calls ? &node->own.time : NULL, node->calls);
		tree_print_indent(depth);
		view_print_number(view->options, node->function, view->color);
		putchar('\n');
		tree_print_values(view, i, depth + 1);
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

static void json_value(const struct tree_view *view, uint32_t node, const struct node_value *value, const char *before)
{
	printf("%s{\"value\":", before);
	json_string(stdout, value->text == NODE_VALUES_OTHERS ? NULL : view->values->text[value->text]);
	if (is_probe(view, node)) {
		printf(",\"events\":%" PRIu64, value->calls);
		return;
	}
	printf(",\"calls\":%" PRIu64 ",", value->calls);
	tree_json_time("time", &value->all, view->cpu);
	putchar(',');
	tree_json_time("self", &value->own, view->cpu);
}

static void json_values(const struct tree_view *view, uint32_t node)
{
	uint32_t count, shown;
	const struct node_value *value = node_values_of(view->values, node, &count);

	shown = shown_of(view, node, value, count);
	printf(",\"values\":[");
	for (uint32_t i = 0; i < shown; i++) {
		json_value(view, node, &value[i], i ? ",\n " : "\n ");
		putchar('}');
	}
	if (shown < count) {
		const struct node_value others = node_values_add(&value[shown], count - shown);
		json_value(view, node, &others, shown ? ",\n " : "\n ");
		printf(",\"others\":%" PRIu32 "}", count - shown);
	}
	putchar(']');
}

static void json_node(const struct tree_view *view, uint32_t number, uint32_t depth)
{
	const struct cct_node *node = &view->cct->node[number];

	printf("{\"depth\":%" PRIu32 ",", depth);
	view_json_number(view->options, node->function);
	if (is_probe(view, number)) {
		printf(",\"events\":%" PRIu64, node->calls);
		if (view->values)
			json_values(view, number);
		putchar('}');
		return;
	}
	printf(",\"calls\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",", node->calls, node->total);
	tree_json_time("time", &node->all, view->cpu);
	putchar(',');
	tree_json_time("self", &node->own, view->cpu);
	if (view->values)
		json_values(view, number);
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
