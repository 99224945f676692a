/* SPDX-License-Identifier: MIT */
#include "tool/alloc/show/text.h"

#include <inttypes.h>

#include "tool/alloc/show/view.h"
#include "tool/base/tool.h"
#include "tool/show/show.h"
#include "tool/show/term/names.h"
#include "tool/show/term/srcline.h"


#define ROWS	    32 /* of the timeline */
#define BAR	    40 /* characters */

static void print_account(const struct alloc_view *view, const struct alloc_account *account)
{
	struct alloc_sum peak = alloc_model_at_peak(&view->book->model, account);

	fprintf(view->to,
		"%" PRIu64 " calls, %" PRIu64 " bytes; at the end %" PRIu64 " blocks, %" PRIu64
		" bytes; at the peak %" PRIu64 " blocks, %" PRIu64 " bytes; temporary %" PRIu64 "\n",
		account->all.blocks, account->all.bytes, account->left.blocks, account->left.bytes, peak.blocks,
		peak.bytes, account->temporary);
}

static void print_frame(FILE *to, const struct alloc_frame *frame)
{
	if (*frame->name) {
		tool_text(to, names_shown(frame->name));
		if (frame->is != ALLOC_FRAME_TRACED)
			fprintf(to, "+0x%" PRIx64, frame->offset - frame->start);
	} else {
		fprintf(to, "0x%" PRIx64, frame->offset);
	}
	if (*frame->library) {
		fputs(" [", to);
		tool_text(to, tool_base(frame->library));
		putc(']', to);
	}
	if (frame->is == ALLOC_FRAME_SIGNAL)
		fputs(" (signal)", to);
	if (srcline_wanted() && *frame->file) {
		putc(' ', to);
		tool_text(to, frame->file);
		fprintf(to, ":%" PRIu32, frame->line);
	}
}

static void print_stack(const struct alloc_view *view, uint32_t node)
{
	for (unsigned n = 0; node; node = alloc_view_parent(view, node)) {
		const struct alloc_frame *frame = alloc_view_frame(view, node);

		if (frame->is == ALLOC_FRAME_END) {
			fprintf(view->to, "    (the backtrace ends here: %s)\n", frame->name);
			continue;
		}
		fprintf(view->to, "    #%-3u ", n++);
		print_frame(view->to, frame);
		putc('\n', view->to);
	}
}

/* ---- over time ---- */

static void print_row(const struct alloc_view *view, uint64_t after, const struct alloc_step *step, uint64_t most)
{
	char buf[SHOW_TIME_SIZE];
	int bar = most ? (int)((double)step->peak / (double)most * BAR + 0.5) : 0;

	fprintf(view->to, "%14s %16" PRIu64 " %12" PRIu64 " %16" PRIu64 " %.*s\n", show_time(buf, after), step->peak,
		step->calls, step->bytes, bar, "########################################");
}

/* As many steps make a row as are needed for no more than ROWS. */
static void print_timeline(const struct alloc_view *view)
{
	const struct alloc_timeline *timeline = &view->book->model.timeline;
	uint32_t each = (timeline->steps + ROWS - 1) / ROWS;

	fprintf(view->to, "%14s %16s %12s %16s\n", "from", "most live", "calls", "bytes");
	for (uint32_t i = 0; i < timeline->steps; i += each) {
		struct alloc_step row = { 0 };
		for (uint32_t k = i; k < i + each && k < timeline->steps; k++) {
			row.peak = timeline->step[k].peak > row.peak ? timeline->step[k].peak : row.peak;
			row.calls += timeline->step[k].calls;
			row.bytes += timeline->step[k].bytes;
		}
		print_row(view, i * timeline->length, &row, view->book->model.sum.noted.bytes);
	}
	putc('\n', view->to);
}

/* ---- all ---- */

static void print_sums(const struct alloc_view *view)
{
	const struct alloc_account_book *book = view->book;
	const struct alloc_model *model = &book->model;
	char buf[SHOW_TIME_SIZE];

	fputs("in all: ", view->to);
	print_account(view, &model->sum);
	if (model->peaks)
		fprintf(view->to, "the peak is %s after the first call\n",
			show_time(buf, model->peak_time > book->begin ? model->peak_time - book->begin : 0));
	if (model->samples)
		fprintf(view->to,
			"all numbers are estimates, of %" PRIu64 " samples, one in %" PRIu64
			" bytes; which blocks are temporary is not known\n", model->samples, model->interval);
	fprintf(view->to,
		"%" PRIu64 " frees, %" PRIu64 " of unknown blocks; %" PRIu64 " lost, as their addresses came again\n",
		model->frees, model->unknown_frees, model->lost_frees);
	if (book->without || book->endless)
		fprintf(view->to, "%" PRIu64 " calls without the values that are needed, %" PRIu64 " without an end\n",
			book->without, book->endless);
	if (book->lost || book->gone)
		fprintf(view->to, "%" PRIu64 " events and %" PRIu64
			" buffers are not in the trace: numbers are too low\n", book->lost, book->gone);
}

void alloc_show_text(const struct alloc_view *view)
{
	uint32_t most = view->most ? view->most : ALLOC_MOST;

	for (uint32_t i = 0; i < view->stacks && i < most; i++) {
		fprintf(view->to, "%" PRIu32 ". ", i + 1);
		print_account(view, alloc_view_account(view, i));
		print_stack(view, view->stack[i]);
		putc('\n', view->to);
	}
	if (view->stacks > most)
		fprintf(view->to, "%" PRIu32 " more stacks: see -n\n", view->stacks - most);
	if (view->timeline)
		print_timeline(view);
	print_sums(view);
}
