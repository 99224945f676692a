/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/export/stacks/folded.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/export/stacks/merged.h"
#include "tool/show/function_text.h"
#include "tool/show/term/names.h"

struct folded {
	struct merged merged;
	struct function_texts names; /* a million stacks have the same ones */
};

static void write_name(void *user, FILE *to, const struct xaudit_read_function *function)
{
	(void)user;
	names_fold(to, names_full(function->name));
}

static void begin(struct export *export)
{
	struct folded *folded = memory_zeroed(1, sizeof(*folded));

	export->state = folded;
	folded->names.write = write_name;
	merged_begin(&folded->merged, export, false);
}

static void leave(struct export *export, const struct export_call *call)
{
	merged_take(&((struct folded *)export->state)->merged, call);
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
	struct folded *folded = export->state;
	struct merged *merged = &folded->merged;
	const struct cct *cct = &merged->cct;
	const struct cct_node **stack = memory_zeroed(cct->nodes, sizeof(*stack));
	struct cct_paths paths;
	uint32_t stacks = 0;
	FILE *to = export->out.file;

	merged_end(merged, export);
	cct_convert(&merged->cct, export->calls);
	/* What is 0 has no width in a picture. */
	for (uint32_t i = 1; i < cct->nodes; i++)
		if (cct->node[i].own.time)
			stack[stacks++] = &cct->node[i];
	qsort(stack, stacks, sizeof(*stack), by_time);
	cct_paths_open(&paths, cct);
	for (uint32_t i = 0; i < stacks && !ferror(to); i++) {
		uint32_t depth = cct_paths_of(&paths, (uint32_t)(stack[i] - cct->node));

		for (uint32_t n = 0; n < depth; n++) {
			const struct xaudit_read_function *function =
				xaudit_read_function(export->trace, paths.function[n]);

			function_text_write(to, function_text_made(&folded->names, function));
			putc_unlocked(n + 1 < depth ? ';' : ' ', to);
		}
		fprintf(to, "%" PRIu64 "\n", stack[i]->own.time);
	}
	cct_paths_close(&paths);
	free(stack);
	merged_free(merged);
	function_texts_free(&folded->names);
	free(folded);
}

const struct export_format export_folded = {
	.name = "folded",
	.help = "merged stacks for flamegraph.pl and speedscope",
	.text = true,
	.begin = begin,
	.leave = leave,
	.end = end,
};
