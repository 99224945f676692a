/* SPDX-License-Identifier: MIT */
/* A chunk's copy without values (bare.h). The words are plain ones, dense or not. Any thread. */
#ifndef XAUDIT_TOOL_PACK_BARE_WORDS_H
#define XAUDIT_TOOL_PACK_BARE_WORDS_H

#include <stdint.h>

#include "format/trace.h"

struct read_file;

struct bare_chunk {
	struct read_file *from;
	int to;
	uint64_t begin, to_begin; /* of the chunk, in both */
	uint64_t room;	/* bytes that its place has */
	struct trace_chunk head; /* as it was read; becomes that of the copy */
	/* Type and id of the events of a layout, as TRACE_WORD() makes them; 0: it is not known. */
	uint32_t (*event_of)(void *source, uint32_t layout);
	void *source;
};

/* Returns an errno, or 0. A head with impossible sizes is no chunk: then nothing is written. */
int bare_chunk_copy(struct bare_chunk *chunk);

#endif
