/* SPDX-License-Identifier: MIT */
/*
 * Unwind information (.eh_frame): where code begins and ends, where exceptions land; frame_rows.h says where its
 * caller's frame is. One thread. The bytes may be damaged: what makes no sense ends the walk, or the entry.
 */
#ifndef XAUDIT_TOOL_INDEX_FRAMES_H
#define XAUDIT_TOOL_INDEX_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct site_file;

struct frame {
	uint64_t start, size;
	uint64_t lsda; /* 0: none */
	const uint8_t *initial, *initial_end; /* instructions of the CIE, and its own */
	const uint8_t *program, *program_end;
	uint64_t program_address;
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t return_column;
	uint8_t encoding; /* of addresses */
	bool signal;
};

struct frames {
	struct frame *frame; /* by start */
	size_t count;
};

/* Never NULL. */
struct frames *frames_read(const struct site_file *file);
void frames_free(struct frames *frames);

/* The FDE that holds the address. NULL: none. */
const struct frame *frames_of(const struct frames *frames, uint64_t address);

/* Calls pad() for each place where an exception lands in the code of this FDE. */
void frame_pads(const struct frame *frame, const struct site_file *file, void (*pad)(void *arg, uint64_t address),
	void *arg);

#endif
