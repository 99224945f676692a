/* SPDX-License-Identifier: MIT */
/*
 * Backtraces (tool/read/api/xaudit-read-frames.h) as commands show them. A frame is "name+0x12 [libfoo.so.1]", behind
 * it " FILE:LINE" if --srcline is given; where no symbol is known "0x1234 [libfoo.so.1]", and where no object is, the
 * address.
 *
 * Errors are left in the stream (ferror). One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_TERM_FRAMES_H
#define XAUDIT_TOOL_SHOW_TERM_FRAMES_H

#include <stdio.h>

#include "tool/read/api/xaudit-read.h"

void frames_print(FILE *file, const struct xaudit_read_frame *frame);

/* Frames are about to be freed, and others may come: they may have their addresses. */
void frames_forget(void);

/* The name of a frame alone, as a flame graph has it, which the caller frees. */
char *frames_name(const struct xaudit_read_frame *frame);

/*
 * A line for each frame, the innermost first, and one that tells why there are no more, unless nobody called the last
 * one: all begin with `before` and end with `after`. NULL: nothing.
 */
void frames_lines(FILE *file, const struct xaudit_read_stack *stack, const char *before, const char *after);

/* {"function":...,"library":...}: the frame with its place; or the function that it is in, as far as symbols tell. */
void frames_json_frame(FILE *file, const struct xaudit_read_frame *frame);
void frames_json_function(FILE *file, const struct xaudit_read_frame *frame);

/* {"number":N,"frames":[{...},...],"end":"..."}; values: addresses are those of their process; NULL: none are told. */
void frames_json(FILE *file, const struct xaudit_read_stack *stack, const struct xaudit_read_values *values);

#endif
