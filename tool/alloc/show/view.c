/* SPDX-License-Identifier: MIT */
#include "tool/alloc/show/view.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tool/alloc/show/folded.h"
#include "tool/alloc/show/json.h"
#include "tool/alloc/show/pprof.h"
#include "tool/alloc/show/text.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/term/names.h"

uint64_t alloc_view_key(const struct alloc_view *view, const struct alloc_account *account)
{
	switch (view->sort) {
	case ALLOC_SORT_CALLS:
		return account->all.blocks;
	case ALLOC_SORT_LIVE:
		return account->left.bytes;
	case ALLOC_SORT_PEAK:
		return alloc_model_at_peak(&view->book->model, account).bytes;
	case ALLOC_SORT_TEMPORARY:
		return account->temporary;
	default:
		return account->all.bytes;
	}
}

char *alloc_view_name(const struct alloc_frame *frame)
{
	if (*frame->name)
		return memory_format("%s", names_full(frame->name));
	if (*frame->library)
		return memory_format("%s+0x%" PRIx64, tool_base(frame->library), frame->offset);
	return memory_format("0x%" PRIx64, frame->offset);
}

static const struct alloc_view *sorted; /* for qsort */

static int by_key(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	uint64_t left = alloc_view_key(sorted, &sorted->book->model.account[a]);
	uint64_t right = alloc_view_key(sorted, &sorted->book->model.account[b]);

	return left != right ? (left > right ? -1 : 1) : a < b ? -1 : a > b;
}

void alloc_show(struct alloc_view *view)
{
	static void (*const shows[])(const struct alloc_view *) = {
		[ALLOC_TEXT] = alloc_show_text, [ALLOC_FOLDED] = alloc_show_folded,
		[ALLOC_JSON] = alloc_show_json, [ALLOC_PPROF] = alloc_show_pprof,
	};
	const struct alloc_model *model = &view->book->model;

	view->stack = memory_zeroed(model->accounts + 1, sizeof(*view->stack));
	for (uint32_t i = 0; i < model->accounts; i++)
		if (model->account[i].all.blocks)
			view->stack[view->stacks++] = i;
	sorted = view;
	qsort(view->stack, view->stacks, sizeof(*view->stack), by_key);
	shows[view->format](view);
	free(view->stack);
	view->stack = NULL;
	view->stacks = 0;
}
