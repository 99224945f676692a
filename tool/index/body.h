/* SPDX-License-Identifier: MIT */
/*
 * What a function does with its stack, seen instruction by instruction, in order of addresses. A struct body is one
 * thread's.
 *
 * Return address: an operand in memory at the word below the caller's frame, which unwind information gives for each
 * instruction; a pop there; a ret that takes arguments away. Where unwind information says one thing for the whole
 * function although rsp moves, or says nothing, it is believed until rsp moves. Besides, an operand that rsp, rbp or a
 * copy of rsp leads there, whatever unwind information says (reach.h). Its address alone (lea) is no matter: that is
 * how the stack pointer is kept.
 *
 * Another stack: rsp is loaded from where no stack pointer came from in this function: from a register that never held
 * rsp, rbp or what was read from the frame before, and to which rsp is nowhere moved itself (compilers do that for
 * arrays of a length that is not known, and may place the end of the block first); or from memory that is not the
 * frame; or it is exchanged, or a register is added to it; or code for which there is no return address follows (a new
 * thread's).
 */
#ifndef XAUDIT_TOOL_INDEX_BODY_H
#define XAUDIT_TOOL_INDEX_BODY_H

#include <stdbool.h>

#include "tool/index/decode.h"
#include "tool/index/frame_rows.h"
#include "tool/index/reach.h"

#define BODY_ROWS 512

struct body {
	struct frame_row row[BODY_ROWS];
	size_t rows, at;
	bool relied;		 /* unwind information follows rsp */
	bool moved;		 /* rsp is no more what it was at the beginning */
	uint32_t from_stack;	 /* registers that held an address of the stack, up to here */
	uint32_t saved;		 /* registers that rsp itself was moved to, anywhere */
	uint32_t to_stack;	 /* registers that were moved to rsp before an address of the stack came to them */
	bool stack, reads_return;
	struct reach reach;
};

/* Of a function. frame: the FDE that its beginning lies in, or NULL. */
void body_begin(struct body *body, const struct frame *frame, uint64_t address, uint64_t end);

/* Is there a return address where functions have it at their beginning, on top of the stack? */
bool body_is_function(const struct body *body);

void body_see(struct body *body, const struct insn *insn);

/* Then `stack` is settled. */
void body_end(struct body *body);

#endif
