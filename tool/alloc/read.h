/* SPDX-License-Identifier: MIT */
/* Adds up what a trace tells, in the order of time over all its processes and threads. One thread. */
#ifndef XAUDIT_TOOL_ALLOC_READ_H
#define XAUDIT_TOOL_ALLOC_READ_H

#include "tool/alloc/calls.h"

/* book: open. Ends the command where memory runs out. */
void alloc_read(struct alloc_account_book *book, struct xaudit_read_trace *trace);

#endif
