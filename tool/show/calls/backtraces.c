/* SPDX-License-Identifier: MIT */
#include "tool/show/calls/backtraces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/calls/view.h"
#include "tool/show/term/frames.h"
#include "tool/show/term/term.h"

/* Of several traces, the same file. */
static bool is_same_object(const struct xaudit_read_object *a, const struct xaudit_read_object *b)
{
	return a == b || (a && b && !strcmp(a->path, b->path) && !strcmp(a->build_id, b->build_id));
}

static bool is_same(const struct backtraces_row *a, const struct backtraces_row *b)
{
	return a->start == b->start && is_same_object(a->object, b->object) && !a->end == !b->end &&
	       (!a->end || !strcmp(a->end, b->end));
}

static uint32_t row_of(struct backtraces *backtraces, const struct backtraces_row *row)
{
	uint32_t hash = hash_key(row->start, hash_text(hash_text(0, row->end), row->object ? row->object->path : NULL));
	uint32_t found = HASH_FIND(i, &backtraces->by_start, hash, is_same(&backtraces->row[i], row));

	if (found != HASH_NONE)
		return found;
	backtraces->row = memory_grow(backtraces->row, backtraces->rows, sizeof(*backtraces->row));
	backtraces->row[backtraces->rows] = *row;
	memory_hash(&backtraces->by_start, hash, backtraces->rows);
	return backtraces->rows++;
}

static uint32_t row_of_frame(struct backtraces *backtraces, const struct xaudit_read_frame *frame)
{
	uint32_t *known = memory_number(&backtraces->of_frame, &backtraces->frames, frame->number);
	struct backtraces_row row = { .frame = frame, .object = frame->object, .start = frame->offset };
	struct xaudit_read_symbol symbol;

	if (*known)
		return *known - 1;
	if (!backtraces->places && xaudit_read_frame_symbol(frame, &symbol) && symbol.name)
		row.start = symbol.start;
	*known = row_of(backtraces, &row) + 1;
	return *known - 1;
}

/* Returns the node of the innermost caller; or of the last one for which there is room, and clears *all. */
static uint32_t add(struct backtraces *backtraces, struct cct *cct, const struct xaudit_read_stack *stack, bool *all)
{
	uint32_t node = CCT_ROOT, i = stack->frames;

	if (stack->end != XAUDIT_READ_STACK_BOTTOM) {
		struct backtraces_row end = { .end = stack->end_text };
		node = cct_child(cct, node, BACKTRACES_FIRST + row_of(backtraces, &end));
		*all = node != CCT_ROOT;
	}
	while (i-- && *all) {
		uint32_t caller = BACKTRACES_FIRST + row_of_frame(backtraces, stack->frame[i]);
		uint32_t child = cct_child(cct, node, caller);
		*all = child != CCT_ROOT;
		node = *all ? child : node;
	}
	return node;
}

bool backtraces_node(
	struct backtraces *backtraces, struct cct *cct, const struct xaudit_read_stack *stack, uint32_t *node)
{
	uint32_t *known = memory_number(&backtraces->of_stack, &backtraces->stacks, stack->number);
	bool all = true;

	backtraces->calls++;
	if (*known) {
		*node = *known - 1;
		return true;
	}
	*node = add(backtraces, cct, stack, &all);
	if (all)
		*known = *node + 1;
	return all;
}

static bool place(void *user, struct cct *cct, const struct xaudit_read_call *call, uint32_t *node, bool *all)
{
	const struct xaudit_read_stack *stack = xaudit_read_stack(call->entered);

	if (!stack)
		return false;
	*all = backtraces_node(user, cct, stack, node);
	return true;
}

void backtraces_begin(struct backtraces *backtraces, struct cct *cct)
{
	cct->place = place;
	cct->user = backtraces;
	/* Numbers are those of another trace, and of another tree. */
	backtraces->frames = backtraces->stacks = 0;
}

/* ---- names ---- */

static const struct backtraces_row *row_at(const struct backtraces *backtraces, uint32_t number)
{
	return &backtraces->row[number - BACKTRACES_FIRST];
}

void backtraces_meet(const struct backtraces *backtraces, uint32_t number)
{
	const struct backtraces_row *row = row_at(backtraces, number);
	struct xaudit_read_symbol symbol;

	if (!row->end && xaudit_read_frame_symbol(row->frame, &symbol) && symbol.name)
		names_meet(symbol.name);
}

void backtraces_print(const struct backtraces *backtraces, uint32_t number, const struct show_colors *color)
{
	const struct backtraces_row *row = row_at(backtraces, number);
	struct xaudit_read_symbol symbol;

	if (row->end) {
		printf("%s(the backtrace ends here: %s)%s", color->dim, row->end, color->off);
	} else if (!backtraces->places && xaudit_read_frame_symbol(row->frame, &symbol) && symbol.name) {
		view_print_name(symbol.name, row->object->path, color);
	} else {
		fputs(color->name, stdout);
		frames_print(stdout, row->frame);
		fputs(color->off, stdout);
	}
}

char *backtraces_name(const struct backtraces *backtraces, uint32_t number)
{
	const struct backtraces_row *row = row_at(backtraces, number);

	return row->end ? memory_format("(%s)", row->end) : frames_name(row->frame);
}

void backtraces_json(const struct backtraces *backtraces, uint32_t number)
{
	const struct backtraces_row *row = row_at(backtraces, number);

	if (row->end) {
		fputs("{\"function\":null,\"library\":null,\"end\":", stdout);
		json_string(stdout, row->end);
		putchar('}');
	} else if (backtraces->places) {
		frames_json_frame(stdout, row->frame);
	} else {
		frames_json_function(stdout, row->frame);
	}
}

void backtraces_free(struct backtraces *backtraces)
{
	free(backtraces->row);
	hash_free(&backtraces->by_start);
	free(backtraces->of_frame);
	free(backtraces->of_stack);
	*backtraces = (struct backtraces){ .places = backtraces->places };
}
