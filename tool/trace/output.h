/* SPDX-License-Identifier: MIT */
/*
 * Lines for a terminal, pipe or file that may be slow: they stand in a queue of bounded size, which a thread of its own
 * writes. So who puts lines there never waits, unless he wants to.
 *
 * A write has whole lines, and no more than a pipe takes in one piece, so that what others write there meanwhile does
 * not come within a line. If nobody reads any more, or a write fails, all later lines are dropped.
 *
 * Between begin and end, one thread calls the functions. The other is inside.
 */
#ifndef XAUDIT_TOOL_TRACE_OUTPUT_H
#define XAUDIT_TOOL_TRACE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* 0, or an errno. */
int output_begin(int fd);

/* Puts a whole line there. Returns false, and leaves it, if there is no room now. */
bool output_put(const char *line, size_t size);

/* Waits up to so many ms for room for a line. */
bool output_wait(int ms);

/* Has a write failed? An errno, or 0. */
int output_failed(void);

/* Waits up to so many ms until all is written. Returns whether it is. */
bool output_drain(int ms);

/* If not all is written the thread stays, as it may be in a write for ever. */
void output_end(void);

#endif
