/* SPDX-License-Identifier: MIT */
/*
 * Which registers of a function are known to point into its stack, and how far from its return address: rsp, rbp and
 * whatever they were copied to. Seen instruction by instruction, in order of addresses. A struct reach is one
 * thread's.
 *
 * At the beginning rsp points to the return address, whatever unwind information says. From there numbers are added up
 * along straight code. A branch within the function hands what is known to its target, if that comes later; what is
 * not the same by all ways is forgotten there. Where no way in is seen (to the target of a jump back alone, of a jump
 * table, of an exception), and where unwind information says something new, there is what that says, of rsp or rbp.
 * What is kept on the stack and loaded again is known along straight code alone.
 */
#ifndef XAUDIT_TOOL_INDEX_REACH_H
#define XAUDIT_TOOL_INDEX_REACH_H

#include <stdbool.h>

#include "tool/index/decode.h"
#include "tool/index/frame_rows.h"

enum { REACH_REGISTERS = 16, REACH_WORDS = 8, REACH_JOINS = 256 /* a power of two */ };

/* Distances from the return address, of registers whose bit is set. */
struct reach_state {
	uint32_t known;
	int32_t distance[REACH_REGISTERS];
};

struct reach_join {
	uint64_t address;
	uint64_t function; /* else it is of another one */
	struct reach_state state;
};

struct reach {
	struct reach_state now;
	bool ended; /* what came last does not go on here */
	struct {
		int32_t distance, holds; /* a word of the stack that holds an address of the stack */
	} word[REACH_WORDS];
	unsigned words;
	uint64_t function, end;
	unsigned joins;	       /* of this function */
	uint64_t may_join[16]; /* a bit per address modulo 1024: 0: no join is there */
	struct reach_join join[REACH_JOINS];
};

/* A function's addresses. row: of unwind information, at its beginning. */
void reach_begin(struct reach *reach, uint64_t function, uint64_t end, const struct frame_row *row);

/*
 * Does this instruction, which insn_decode() took last, read or write the return address? row: what unwind information
 * says here; NULL: nothing that follows rsp.
 */
bool reach_see(struct reach *reach, const struct insn *insn, const struct frame_row *row);

#endif
