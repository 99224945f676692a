/* SPDX-License-Identifier: MIT */
/*
 * A flame graph: stacks as boxes upon each other, which are as wide as what was spent in them, in an SVG file without
 * scripts. A box tells more when the mouse is over it; it has the colour of its library, in a shade of its function.
 * Colours are for light and for dark, as the reader's settings have it. Boxes that are too narrow to be seen, and those
 * of calls that are too deep, are left out, and it says so.
 *
 * Names may hold any bytes: what XML can't have, and what would steer a terminal or turn the direction of writing, is
 * "?". One thread. Errors are left in the stream (ferror).
 */
#ifndef XAUDIT_TOOL_SHOW_CALLS_FLAME_H
#define XAUDIT_TOOL_SHOW_CALLS_FLAME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The first one is the root, in which all are. A frame's parent comes before it. */
struct flame_frame {
	uint32_t parent;
	uint32_t number; /* that names it; of the root: any */
	uint64_t own;	 /* spent in it, but not in frames upon it */
	uint64_t calls;
};

struct flame_name {
	char *name; /* flame_draw() frees it */
	const char *library; /* path; NULL: none, as of callers that are not traced */
};

struct flame {
	const struct flame_frame *frame;
	uint32_t frames;
	bool counts; /* what is spent are numbers; else ns */
	const char *title; /* harmless or not */
	const char *what; /* "self time" */
	const char *note; /* one line more at the end; or NULL */
	struct flame_name (*name)(void *user, uint32_t number);
	void *user;
};

void flame_draw(FILE *to, const struct flame *flame);

#endif
