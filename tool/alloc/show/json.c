/* SPDX-License-Identifier: MIT */
#include "tool/alloc/show/json.h"

#include <inttypes.h>

#include "tool/alloc/show/view.h"
#include "tool/base/json.h"
#include "tool/show/term/names.h"
#include "tool/show/term/srcline.h"

/* Members, without the first comma. */
static void put_account(const struct alloc_view *view, const struct alloc_account *account)
{
	struct alloc_sum peak = alloc_model_at_peak(&view->book->model, account);

	fprintf(view->to,
		"\"calls\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"live_blocks\":%" PRIu64 ",\"live_bytes\":%" PRIu64
		",\"peak_blocks\":%" PRIu64 ",\"peak_bytes\":%" PRIu64 ",\"temporary\":%" PRIu64, account->all.blocks,
		account->all.bytes, account->left.blocks, account->left.bytes, peak.blocks, peak.bytes,
		account->temporary);
}

static void put_text(const struct alloc_view *view, const char *text)
{
	json_string(view->to, *text ? text : NULL);
}

static void put_frame(const struct alloc_view *view, const struct alloc_frame *frame)
{
	fputs("{\"function\":", view->to);
	put_text(view, frame->name);
	if (*frame->name)
		names_json(view->to, frame->name);
	fputs(",\"library\":", view->to);
	put_text(view, frame->library);
	if (frame->is != ALLOC_FRAME_TRACED)
		fprintf(view->to, ",\"%s\":\"0x%" PRIx64 "\"", *frame->library ? "offset" : "address", frame->offset);
	if (frame->is != ALLOC_FRAME_TRACED && *frame->name)
		fprintf(view->to, ",\"start\":\"0x%" PRIx64 "\"", frame->start);
	if (frame->is == ALLOC_FRAME_SIGNAL)
		fputs(",\"exact\":true", view->to);
	if (srcline_wanted() && *frame->file) {
		fputs(",\"source\":", view->to);
		json_string(view->to, frame->file);
		fprintf(view->to, ",\"line\":%" PRIu32, frame->line);
	}
	putc('}', view->to);
}

/* end: why there are no more frames; null: nobody called the last one. */
static void put_stack(const struct alloc_view *view, uint32_t at)
{
	const char *end = NULL;

	fprintf(view->to, "%s\n{", at ? "," : "");
	put_account(view, alloc_view_account(view, at));
	fputs(",\"frames\":[", view->to);
	for (uint32_t node = view->stack[at], n = 0; node; node = alloc_view_parent(view, node), n++) {
		const struct alloc_frame *frame = alloc_view_frame(view, node);
		if (frame->is == ALLOC_FRAME_END) {
			end = frame->name;
			break;
		}
		if (n)
			putc(',', view->to);
		put_frame(view, frame);
	}
	fputs("],\"end\":", view->to);
	json_string(view->to, end);
	putc('}', view->to);
}

static void put_timeline(const struct alloc_view *view)
{
	const struct alloc_timeline *timeline = &view->book->model.timeline;

	fputs(",\"timeline\":[", view->to);
	for (uint32_t i = 0; i < timeline->steps; i++)
		fprintf(view->to,
			"%s\n{\"start_ns\":%" PRIu64 ",\"live_bytes\":%" PRIu64 ",\"calls\":%" PRIu64
			",\"bytes\":%" PRIu64 "}", i ? "," : "", i * timeline->length, timeline->step[i].peak,
			timeline->step[i].calls, timeline->step[i].bytes);
	fputs("\n]", view->to);
}

void alloc_show_json(const struct alloc_view *view)
{
	const struct alloc_account_book *book = view->book;
	const struct alloc_model *model = &book->model;

	fputs("{\"stacks\":[", view->to);
	for (uint32_t i = 0; i < view->stacks && (!view->most || i < view->most); i++)
		put_stack(view, i);
	fprintf(view->to, "\n],\"stacks_in_all\":%" PRIu32 ",\"sum\":{", view->stacks);
	put_account(view, &model->sum);
	fprintf(view->to,
		"},\"peak_ns\":%" PRIu64 ",\"processes\":%" PRIu32 ",\"frees\":%" PRIu64 ",\"unknown_frees\":%" PRIu64
		",\"lost_frees\":%" PRIu64 ",\"without_values\":%" PRIu64 ",\"without_end\":%" PRIu64
		",\"lost\":%" PRIu64 ",\"buffers_lost\":%" PRIu64,
		model->peak_time > book->begin ? model->peak_time - book->begin : 0, book->processes, model->frees,
		model->unknown_frees, model->lost_frees, book->without, book->endless, book->lost, book->gone);
	if (model->samples)
		fprintf(view->to, ",\"samples\":%" PRIu64 ",\"sample_interval\":%" PRIu64, model->samples,
			model->interval);
	if (view->timeline)
		put_timeline(view);
	fputs("}\n", view->to);
}
