/* SPDX-License-Identifier: MIT */
#include "tool/export/stacks/folded.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/export/stacks/merged.h"
#include "tool/show/term/names.h"

static void begin(struct export *export)
{
	struct merged *merged = memory_zeroed(1, sizeof(*merged));

	export->state = merged;
	merged_begin(merged, export, false);
}

static void leave(struct export *export, const struct export_call *call)
{
	merged_take(export->state, call);
}

static int by_time(const void *x, const void *y)
{
	const struct cct_node *a = *(const struct cct_node *const *)x, *b = *(const struct cct_node *const *)y;

	if (a->own.time != b->own.time)
		return a->own.time > b->own.time ? -1 : 1;
	return a < b ? -1 : a > b; /* in the order in which they were met */
}

static void end(struct export *export)
{
	struct merged *merged = export->state;
	const struct cct *cct = &merged->cct;
	const struct cct_node **stack = memory_zeroed(cct->nodes, sizeof(*stack));
	uint32_t stacks = 0, *path = NULL, room = 0;
	FILE *to = export->out.file;

	merged_end(merged, export);
	cct_convert(&merged->cct, export->calls);
	/* What is 0 has no width in a picture. */
	for (uint32_t i = 1; i < cct->nodes; i++)
		if (cct->node[i].own.time)
			stack[stacks++] = &cct->node[i];
	qsort(stack, stacks, sizeof(*stack), by_time);
	for (uint32_t i = 0; i < stacks && !ferror(to); i++) {
		uint32_t depth = cct_path(cct, stack[i], &path, &room);

		for (uint32_t n = 0; n < depth; n++) {
			names_fold(to, names_full(xaudit_read_function(export->trace, path[n])->name));
			putc(n + 1 < depth ? ';' : ' ', to);
		}
		fprintf(to, "%" PRIu64 "\n", stack[i]->own.time);
	}
	free(path);
	free(stack);
	merged_free(merged);
	free(merged);
}

const struct export_format export_folded = {
	.name = "folded",
	.help = "merged stacks for flamegraph.pl and speedscope",
	.text = true,
	.begin = begin,
	.leave = leave,
	.end = end,
};
