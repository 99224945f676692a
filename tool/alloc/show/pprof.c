/* SPDX-License-Identifier: MIT */
#include "tool/alloc/show/pprof.h"

#include <stdlib.h>

#include "tool/alloc/show/view.h"
#include "tool/base/memory.h"
#include "tool/base/pprof.h"
#include "tool/show/term/names.h"

struct profile {
	const struct alloc_view *view;
	struct pprof pprof;
	bool *located; /* frames whose location is written */
};

/* A place is within the call that it is behind. */
static void put_location(struct profile *profile, uint32_t number)
{
	const struct alloc_frame *frame = &profile->view->book->tree.frame[number];
	struct pprof_place place = { .id = number + 1ull, .line = frame->line };

	profile->located[number] = true;
	place.library = pprof_library(&profile->pprof, frame->library, "");
	if (*frame->name)
		place.function = pprof_function(&profile->pprof, frame->name, names_full(frame->name), frame->library,
			frame->file);
	place.has_offset = frame->is != ALLOC_FRAME_TRACED;
	place.offset = frame->offset - (frame->is == ALLOC_FRAME_CALLER);
	pprof_location(&profile->pprof, &place);
}

static void put_sample(struct profile *profile, uint32_t at)
{
	const struct alloc_view *view = profile->view;
	const struct alloc_account *account = alloc_view_account(view, at);
	const uint64_t value[] = { account->all.blocks, account->all.bytes, account->left.blocks, account->left.bytes };

	for (uint32_t node = view->stack[at]; node; node = alloc_view_parent(view, node)) {
		uint32_t frame = view->book->tree.node[node].frame;
		if (view->book->tree.frame[frame].is == ALLOC_FRAME_END)
			continue;
		if (!profile->located[frame])
			put_location(profile, frame);
		pprof_sample_place(&profile->pprof, frame + 1ull);
	}
	for (size_t i = 0; i < sizeof(value) / sizeof(*value); i++)
		pprof_sample_value(&profile->pprof, value[i]);
	pprof_sample_end(&profile->pprof);
}

void alloc_show_pprof(const struct alloc_view *view)
{
	const struct alloc_account_book *book = view->book;
	struct profile profile = { .view = view };
	struct pprof *pprof = &profile.pprof;

	profile.located = memory_zeroed(book->tree.frames, sizeof(*profile.located));
	pprof_begin(pprof, view->to);
	pprof_type(pprof, PPROF_SAMPLE_TYPE, "alloc_objects", "count");
	pprof_type(pprof, PPROF_SAMPLE_TYPE, "alloc_space", "bytes");
	pprof_type(pprof, PPROF_SAMPLE_TYPE, "inuse_objects", "count");
	pprof_type(pprof, PPROF_SAMPLE_TYPE, "inuse_space", "bytes");
	for (uint32_t i = 0; i < view->stacks && (!view->most || i < view->most); i++)
		put_sample(&profile, i);
	pprof_number(pprof, PPROF_DURATION, book->end - book->begin);
	pprof_type(pprof, PPROF_PERIOD_TYPE, "space", "bytes");
	pprof_number(pprof, PPROF_PERIOD, 1);
	pprof_number(pprof, PPROF_DEFAULT_TYPE, pprof_string(pprof, "alloc_space"));
	pprof_end(pprof);
	free(profile.located);
}
