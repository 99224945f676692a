/* SPDX-License-Identifier: MIT */
#include "tool/alloc/show/folded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/alloc/show/view.h"
#include "tool/base/memory.h"
#include "tool/show/term/names.h"

struct line {
	char *stack;
	uint64_t key;
};

static void put_stack(FILE *to, const struct alloc_view *view, uint32_t node)
{
	const struct alloc_frame *frame = alloc_view_frame(view, node);
	uint32_t parent = alloc_view_parent(view, node);

	if (frame->is == ALLOC_FRAME_END)
		return;
	if (parent)
		put_stack(to, view, parent);
	if (parent && alloc_view_frame(view, parent)->is != ALLOC_FRAME_END)
		putc(';', to);
	char *name = alloc_view_name(frame);
	names_fold(to, name);
	free(name);
}

static char *stack_of(const struct alloc_view *view, uint32_t node)
{
	char *text;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));

	put_stack(to, view, node);
	if (fclose(to))
		memory_failed();
	return text;
}

static int by_stack(const void *x, const void *y)
{
	return strcmp(((const struct line *)x)->stack, ((const struct line *)y)->stack);
}

static int by_key(const void *x, const void *y)
{
	const struct line *a = x, *b = y;

	return a->key != b->key ? (a->key > b->key ? -1 : 1) : strcmp(a->stack, b->stack);
}

/* Stacks that differ in places of the same functions are one line. Returns how many there are. */
static uint32_t merge(struct line *line, uint32_t lines)
{
	uint32_t kept = 0;

	qsort(line, lines, sizeof(*line), by_stack);
	for (uint32_t i = 0; i < lines; i++) {
		if (kept && !strcmp(line[kept - 1].stack, line[i].stack)) {
			line[kept - 1].key += line[i].key;
			free(line[i].stack);
			continue;
		}
		line[kept++] = line[i];
	}
	qsort(line, kept, sizeof(*line), by_key);
	return kept;
}

void alloc_show_folded(const struct alloc_view *view)
{
	struct line *line = memory_zeroed(view->stacks + 1, sizeof(*line));
	uint32_t lines = 0;

	/* What is 0 has no width in a picture. */
	for (uint32_t i = 0; i < view->stacks; i++) {
		uint64_t key = alloc_view_key(view, alloc_view_account(view, i));
		if (key)
			line[lines++] = (struct line){ stack_of(view, view->stack[i]), key };
	}
	lines = merge(line, lines);
	for (uint32_t i = 0; i < lines; i++) {
		if (!view->most || i < view->most)
			fprintf(view->to, "%s %" PRIu64 "\n", line[i].stack, line[i].key);
		free(line[i].stack);
	}
	free(line);
}
