/* SPDX-License-Identifier: MIT */
/*
 * A bar that tells how far long work came: on standard error, if that is a terminal, this process is in its foreground
 * and no pager has it; from the second second on, ten times a second at most; erased before anything else is written.
 * One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_TERM_PROGRESS_H
#define XAUDIT_TOOL_SHOW_TERM_PROGRESS_H

#include <stdint.h>

/* So much of the work is done. The first call begins it. Costs a reading of the clock. */
void progress(uint64_t done, uint64_t all);

/* The same, to be told by a library. user: not used. */
void progress_told(void *user, uint64_t done, uint64_t all);

/* Erases the bar. The next work begins anew. */
void progress_end(void);

#endif
