/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* qsort_r */
#include "tool/show/calls/node_values.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/search.h"
#include "tool/base/memory.h"
#include "tool/show/values.h"

#define ROWS_MOST  1000000
#define TEXTS_MOST 100000

static uint32_t text_number(struct node_values *values, char *text)
{
	uint32_t hash = hash_text(0, text);
	uint32_t number = HASH_FIND(i, &values->by_text, hash, !strcmp(values->text[i], text));

	if (number != HASH_NONE || values->texts == TEXTS_MOST) {
		free(text);
		return number; /* HASH_NONE is NODE_VALUES_OTHERS */
	}
	values->text = memory_grow(values->text, values->texts, sizeof(*values->text));
	values->text[values->texts] = text;
	memory_hash(&values->by_text, hash, values->texts);
	return values->texts++;
}
_Static_assert(HASH_NONE == NODE_VALUES_OTHERS, "text_number() takes one for the other");

static struct node_value *row_of(struct node_values *values, uint32_t node, uint32_t text)
{
	uint32_t hash = hash_key(node, text);
	uint32_t row = HASH_FIND(i, &values->by_node, hash, values->row[i].node == node && values->row[i].text == text);

	if (row != HASH_NONE)
		return &values->row[row];
	if (values->rows >= ROWS_MOST && text != NODE_VALUES_OTHERS)
		return row_of(values, node, NODE_VALUES_OTHERS);
	values->row = memory_grow(values->row, values->rows, sizeof(*values->row));
	values->row[values->rows] = (struct node_value){ .node = node, .text = text };
	memory_hash(&values->by_node, hash, values->rows);
	return &values->row[values->rows++];
}

static void add(struct node_value *to, const struct node_value *from)
{
	to->calls += from->calls;
	cct_add(&to->own, &from->own);
	cct_add(&to->all, &from->all);
}

void node_values_take(struct node_values *values, const struct xaudit_read_call *call, uint32_t node)
{
	char *text = values_named(call, values->name);

	if (!text)
		return;
	struct node_value one = { .calls = 1 };
	cct_times(call, &one.own, &one.all);
	add(row_of(values, node, text_number(values, text)), &one);
}

void node_values_hit(struct node_values *values, const struct xaudit_read_values *of, uint32_t node)
{
	char *text = of ? values_one(of, values->name) : NULL;

	if (text)
		row_of(values, node, text_number(values, text))->calls++;
}

void node_values_move(struct node_values *values, const uint32_t *to)
{
	struct node_value *row = values->row;
	uint32_t rows = values->rows;

	values->row = NULL;
	values->rows = 0;
	hash_free(&values->by_node);
	for (uint32_t i = 0; i < rows; i++)
		if (to[row[i].node])
			add(row_of(values, to[row[i].node], row[i].text), &row[i]);
	free(row);
}

/* Others come last. */
static int compare(const void *row, const void *other, void *of)
{
	const struct node_values *values = of;
	const struct node_value *x = row, *y = other;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if ((x->text == NODE_VALUES_OTHERS) != (y->text == NODE_VALUES_OTHERS))
		return x->text == NODE_VALUES_OTHERS ? 1 : -1;
	if (x->all.time != y->all.time)
		return x->all.time > y->all.time ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return x->text == y->text ? 0 : strcmp(values->text[x->text], values->text[y->text]);
}

void node_values_convert(struct node_values *values, const struct xaudit_read_calls *calls)
{
	for (uint32_t i = 0; i < values->rows; i++) {
		cct_to_ns(calls, &values->row[i].own);
		cct_to_ns(calls, &values->row[i].all);
	}
}

void node_values_merge(struct node_values *to, const struct node_values *from, const uint32_t *in)
{
	uint32_t *number = memory_zeroed(from->texts + 1, sizeof(*number));

	for (uint32_t i = 0; i < from->texts; i++)
		number[i] = text_number(to, memory_text(from->text[i], strlen(from->text[i])));
	for (uint32_t i = 0; i < from->rows; i++) {
		const struct node_value *row = &from->row[i];
		uint32_t text = row->text == NODE_VALUES_OTHERS ? row->text : number[row->text];
		if (in[row->node])
			add(row_of(to, in[row->node], text), row);
	}
	free(number);
}

void node_values_sort(struct node_values *values)
{
	if (values->rows)
		qsort_r(values->row, values->rows, sizeof(*values->row), compare, values);
	hash_free(&values->by_node); /* numbers of rows are others now */
}

const struct node_value *node_values_of(const struct node_values *values, uint32_t node, uint32_t *count)
{
	size_t first = SEARCH(i, 0, values->rows, values->row[i].node < node);
	size_t end = SEARCH(i, first, values->rows, values->row[i].node == node);

	*count = (uint32_t)(end - first);
	return &values->row[first];
}

struct node_value node_values_add(const struct node_value *value, uint32_t count)
{
	struct node_value sum = { .text = NODE_VALUES_OTHERS };

	for (uint32_t i = 0; i < count; i++)
		add(&sum, &value[i]);
	return sum;
}

void node_values_free(struct node_values *values)
{
	for (uint32_t i = 0; i < values->texts; i++)
		free(values->text[i]);
	free(values->text);
	free(values->row);
	hash_free(&values->by_text);
	hash_free(&values->by_node);
	*values = (struct node_values){ 0 };
}
