/* SPDX-License-Identifier: MIT */
/*
 * Which of the ways (windows.h) an instruction has. Pure; one thread.
 *
 * Bytes that a window writes, displaces, or expects in the file are its own: struct window_taken has a bit for each
 * byte of the code.
 */
#ifndef XAUDIT_TOOL_PROBE_WINDOW_WAYS_H
#define XAUDIT_TOOL_PROBE_WINDOW_WAYS_H

#include "tool/probe/window_body.h"

struct window_choice {
	const struct window_body *body;
	uint32_t first, last; /* instructions that are displaced */
	uint8_t way;	      /* enum probe_way */
	uint8_t length;	      /* of these instructions */
	uint8_t own;	      /* bytes from the first one on that are this window's */
	uint8_t prefixes;     /* SHARED: a bit for each number of prefixes, from 0 on, that there may be */
	int32_t padding;      /* SHORT: from the first one on */
};

struct window_taken {
	uint64_t low;
	uint64_t *bit; /* NULL: none is taken */
};

void window_take(struct window_taken *taken, const struct window_choice *choice);
void window_give(struct window_taken *taken, const struct window_choice *choice);

/* The window of an instruction alone. Returns PROBE_USABLE, or why there is none. */
unsigned window_choose(struct window_bodies *bodies, const struct window_taken *taken, size_t function, size_t insn,
	struct window_choice *choice);

/* JUMP over all these instructions, if it may be. */
unsigned window_join(const struct window_taken *taken, const struct window_body *body, size_t first, size_t last,
	struct window_choice *choice);

#endif
