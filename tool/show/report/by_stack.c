/* SPDX-License-Identifier: MIT */
#include "tool/show/report/by_stack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/report/catalog.h"
#include "tool/show/report/each_call.h"
#include "tool/show/report/row_names.h"
#include "tool/show/report/tally.h"
#include "tool/show/report/tally_print.h"
#include "tool/show/term/frames.h"

/*
 * Equal backtraces of several traces are one: by text, which has numbers of frames, and these are the same if the
 * object and the offset are, by text again. The text of a backtrace, and of a frame, is made once per trace.
 */
struct by_stack {
	struct report *report;
	struct catalog texts, places, names;
	struct tallies rows; /* key: the text, and the function */
	/* Of the backtraces, and frames, of the trace at hand, by their numbers; 0: not made yet. */
	struct numbers {
		uint32_t *number;
		uint32_t known;
	} text, place;
	const struct xaudit_read_stack **stack; /* by number of the text */
	uint32_t stacks;
	uint32_t trace; /* at hand */
};

static void begin_trace(void *user, uint32_t trace)
{
	struct by_stack *by = user;

	by->trace = trace;
	catalog_next_trace(&by->names);
	by->text.known = by->place.known = 0;
}

static uint32_t place_of(struct by_stack *by, const struct xaudit_read_frame *frame)
{
	uint32_t *number = memory_number(&by->place.number, &by->place.known, frame->number);

	if (*number)
		return *number;
	char *text = memory_format("%s %s %" PRIx64 " %" PRIu32, frame->object ? frame->object->path : "",
		frame->object ? frame->object->build_id : "", frame->offset, frame->marks);
	*number = catalog_number(&by->places, text, NULL);
	free(text);
	return *number;
}

static char *text_of(struct by_stack *by, const struct xaudit_read_stack *stack)
{
	char *text = NULL;
	size_t size;
	FILE *file = memory_need(open_memstream(&text, &size));

	fprintf(file, "%d", stack->end);
	for (uint32_t i = 0; i < stack->frames; i++)
		fprintf(file, " %" PRIx32, place_of(by, stack->frame[i]));
	if (fclose(file))
		memory_failed();
	return text;
}

static uint32_t number_of(struct by_stack *by, const struct xaudit_read_stack *stack)
{
	uint32_t *known = memory_number(&by->text.number, &by->text.known, stack->number);

	if (*known)
		return *known;
	char *text = text_of(by, stack);
	uint32_t number = catalog_number(&by->texts, text, NULL);
	free(text);
	if (number >= by->stacks) {
		by->stacks = 2 * number + 16;
		by->stack = memory_resize(by->stack, by->stacks, sizeof(*by->stack));
	}
	by->stack[number] = stack;
	return *known = number;
}

static void take_probe(struct by_stack *by, const struct xaudit_read_item *item)
{
	const struct xaudit_read_stack *stack = xaudit_read_stack(item->values);

	if (!stack || !report_takes_probe(by->report, by->trace, item))
		return;
	uint32_t row = tallies_find(&by->rows, number_of(by, stack), catalog_probe(&by->names, item->probe), 0);
	by->rows.tally[row].calls++;
}

static void take(void *user, const struct xaudit_read_item *item)
{
	struct by_stack *by = user;
	const struct xaudit_read_stack *stack =
		item->what == XAUDIT_READ_CALL ? xaudit_read_stack(item->call->entered) : NULL;

	if (item->what == XAUDIT_READ_PROBE)
		take_probe(by, item);
	if (stack) {
		uint32_t function = catalog_function(&by->names, item->call->function);
		uint32_t row = tallies_find(&by->rows, number_of(by, stack), function, 0);
		tallies_add(&by->rows, row, item->call, item->call->ticks.total);
	}
}

/* ---- printing ---- */

static const struct by_stack *compared;

static int compare(const void *row, const void *other)
{
	const struct tally *x = row, *y = other;
	int by_name = catalog_compare(&compared->names, x->key[1], y->key[1]);

	return by_name ? by_name : x->key[0] < y->key[0] ? -1 : x->key[0] > y->key[0];
}

static void print_line(const void *of, const struct report_line *line)
{
	const struct by_stack *by = of;
	const struct tally *tally = line->row;
	const struct catalog_name *name = &by->names.name[tally->key[1]];

	report_print_function(by->report, name->name, name->library);
	putchar('\n');
	frames_lines(stdout, by->stack[tally->key[0]], "    called by ", "\n");
}

static void json_line(const void *of, const struct report_line *line)
{
	const struct by_stack *by = of;
	const struct tally *tally = line->row;
	const struct catalog_name *name = &by->names.name[tally->key[1]];

	printf("{\"backtrace\":");
	frames_json(stdout, by->stack[tally->key[0]], NULL);
	putchar(',');
	report_json_name(name);
	putchar(',');
	columns_json(&by->report->columns, line);
	putchar('}');
}

/* As folded stacks have it: the outermost caller first. */
static void csv_stack(struct csv *csv, const struct xaudit_read_stack *stack)
{
	char *text = NULL;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));

	if (stack->end != XAUDIT_READ_STACK_BOTTOM)
		fprintf(to, "(%s)%s", stack->end_text, stack->frames ? ";" : "");
	for (uint32_t i = stack->frames; i--;) {
		char *name = frames_name(stack->frame[i]);
		for (char *at = name; (at = strchr(at, ';'));)
			*at = ':';
		fprintf(to, "%s%s", name, i ? ";" : "");
		free(name);
	}
	if (fclose(to))
		memory_failed();
	csv_text(csv, memory_need(text));
	free(text);
}

static void csv_line(const void *of, const struct report_line *line)
{
	const struct by_stack *by = of;
	struct csv *csv = &by->report->csv;

	if (!line) {
		csv_heads(csv, "callers");
		report_csv_function_heads(by->report, "");
		return;
	}
	const struct tally *tally = line->row;
	const struct catalog_name *name = &by->names.name[tally->key[1]];
	csv_stack(csv, by->stack[tally->key[0]]);
	report_csv_function(by->report, name->name, name->library);
}

int report_by_stack(struct report *report)
{
	struct by_stack by = { .report = report };
	const struct report_calls calls = {
		.probes = true, .values = true, .begin = begin_trace, .take = take, .rows = &by.rows, .user = &by
	};
	const struct tally_table table = { .head = "Function, and who called", .compare = compare, .print = print_line,
		.json = json_line, .csv = csv_line, .of = &by };
	int status = TOOL_OK;

	compared = &by;
	report_each(report, &calls);
	if (by.rows.used > 1) {
		report_meet(&by.names);
		tally_print(report, &by.rows, &table);
	} else {
		tool_error("report", "no call with a backtrace is in the trace; `xaudit record --context "
				     "FUNC:backtrace` records them");
		status = TOOL_FAILED;
	}
	tallies_free(&by.rows);
	catalog_free(&by.texts);
	catalog_free(&by.places);
	catalog_free(&by.names);
	free(by.text.number);
	free(by.place.number);
	free(by.stack);
	return status;
}
