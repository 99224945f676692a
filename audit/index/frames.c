/* SPDX-License-Identifier: MIT */
#include "audit/index/frames.h"

#include <errno.h>

#include "audit/index/index.h"

int index_frames_check(const struct index *index, struct index_frames *frames)
{
	*frames = (struct index_frames){ 0 };
	if (!index->frames)
		return -ENOENT;
	const struct index_frame *entry = index_bytes(index, index->frame, index->frames * sizeof(*entry));
	if (!entry)
		return -EBADMSG;
	*frames = (struct index_frames){ entry, index->frames, index->head->code_low };
	return 0;
}

uint32_t index_frames_rule(const struct index_frames *frames, uint64_t address)
{
	const struct index_frame *entry = frames->frame;
	uint64_t from = address - frames->low;
	size_t left = frames->count;

	if (!left || from > UINT32_MAX || from < entry->from)
		return FRAME_RULE(FRAME_NONE, FRAME_GAP, 0);
	/* The entry wanted is one of `left` from *entry on. Without branches, which nobody could predict. */
	while (left > 1) {
		size_t half = left / 2;
		entry = entry[half].from <= from ? entry + half : entry;
		left -= half;
	}
	return entry->rule;
}
