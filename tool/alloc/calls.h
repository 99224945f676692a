/* SPDX-License-Identifier: MIT */
/*
 * From calls of allocator functions to the model: told in the order of time over all threads, a call when it begins
 * and when it ends.
 *
 * A block counts for the outermost function that gives it: operator new calls malloc, which is one allocation. What the
 * inner call gave waits for the outer one's end. If that gives the same block, or a part of it, the inner one is
 * forgotten; else it was another one, as of a new-handler or of an exception, and counts itself. A function that ends
 * by a jump goes on as the one that it jumps to: operator new[] as operator new, operator delete as free.
 *
 * Blocks count when the outermost call returns, since only then the address is known, and frees when it begins: nobody
 * else can have the address before. realloc's old block is taken out of the table when it begins, and freed when it
 * ends, unless it failed.
 *
 * The stack is the backtrace that was recorded with the call, or, without one, the traced calls that are open; the
 * function itself is its innermost frame.
 *
 * One thread.
 */
#ifndef XAUDIT_TOOL_ALLOC_CALLS_H
#define XAUDIT_TOOL_ALLOC_CALLS_H

#include "tool/alloc/model.h"
#include "tool/alloc/tree.h"
#include "tool/read/api/xaudit-read.h"

struct alloc_process;

/* All that was read. */
struct alloc_account_book {
	struct alloc_model model;
	struct alloc_tree tree;
	uint64_t begin, end;  /* the first and the last event; 0: none */
	uint64_t calls;	      /* of allocator functions */
	uint64_t without;     /* ... that have not the values that are needed */
	uint64_t endless;     /* ... that gave a block perhaps: it is not known, as they have no end */
	uint64_t lost, gone;  /* events, and buffers, that are not in the trace */
	uint32_t processes;
	struct alloc_open *spare;
};

void alloc_book_open(struct alloc_account_book *book, uint32_t soon);
void alloc_book_close(struct alloc_account_book *book);

struct alloc_process *alloc_process_begin(struct alloc_account_book *book);
void alloc_process_end(struct alloc_process *process, uint64_t time);

/* call->user is this file's. */
void alloc_call_begins(struct alloc_process *process, struct xaudit_read_call *call, uint64_t time);
void alloc_call_ends(struct alloc_process *process, struct xaudit_read_call *call, uint64_t time);

#endif
