/* SPDX-License-Identifier: MIT */
/*
 * Adds up what a trace tells while it is recorded. A thread looks at it every LOOK_MS, takes what is new, and gives the
 * room on the disk back that this took, unless the trace is kept: so the trace has no more than what was not read yet.
 * The program waits for none of this.
 *
 * When the command has ended, the rest is read. Of processes that it has left behind, which go on, what they did until
 * then counts.
 *
 * The main thread begins and ends it; meanwhile the book belongs to the thread.
 */
#ifndef XAUDIT_TOOL_ALLOC_FOLLOW_H
#define XAUDIT_TOOL_ALLOC_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/alloc/calls.h"

/* Begins, with the trace in a folder, which may still be empty. Returns false after a line on stderr. */
bool alloc_follow_begin(struct alloc_account_book *book, const char *folder, bool keep);

/* The same of what a process that runs records from now on. */
bool alloc_follow_process(struct alloc_account_book *book, uint32_t pid);

/* Returns when all processes have ended, a signal has come, or so many ns are over (0: however long it takes). */
void alloc_follow_wait(uint64_t ns);

/* The command has ended, or did not run. Reads the rest, or until a signal tells to end: returns that, or 0. */
int alloc_follow_end(void);

#endif
