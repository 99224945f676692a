/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/trace/callers.h"

#include <stdio.h>
#include <stdlib.h>

#include "tool/base/hash.h"
#include "tool/base/memory.h"
#include "tool/show/term/frames.h"

static struct {
	struct {
		const struct xaudit_read_stack *stack;
		char *lines;
	} *row;
	uint32_t rows;
	struct hash by_stack;
} known;

static char *make(const struct xaudit_read_stack *stack)
{
	char *text;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));

	frames_lines(to, stack, " > ", "\n");
	if (fclose(to))
		memory_failed();
	return text;
}

const char *callers_lines(const struct xaudit_read_stack *stack)
{
	if (!stack)
		return "";
	uint32_t hash = hash_key((uintptr_t)stack, 0);
	uint32_t row = HASH_FIND(i, &known.by_stack, hash, known.row[i].stack == stack);
	if (row == HASH_NONE) {
		row = known.rows;
		known.row = memory_grow(known.row, row, sizeof(*known.row));
		known.row[row].stack = stack;
		known.row[row].lines = make(stack);
		memory_hash(&known.by_stack, hash, row);
		known.rows++;
	}
	return known.row[row].lines;
}

void callers_forget(void)
{
	for (uint32_t i = 0; i < known.rows; i++)
		free(known.row[i].lines);
	free(known.row);
	known.row = NULL;
	known.rows = 0;
	hash_free(&known.by_stack);
	frames_forget();
}
