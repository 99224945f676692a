/* SPDX-License-Identifier: MIT */
/*
 * Making a template (format/index.h) of the first instructions of a function. Pure; any thread.
 *
 * What stands in the template for an instruction:
 *	relative to rip		the same with another displacement
 *	jmp, jcc		jmp, jcc with 32 bits, whatever they had
 *	loop, jrcxz		the same over a short jump, which leads past a jmp with 32 bits
 *	call			its target to the place below the stack, and jmp to the call that is written in place
 *				(enum index_call_in): push of it, from behind the code or of the same operand, and lea.
 *				Or rax to where the call will leave it, the address of what is behind to rax, and
 *				jmp to the call; behind is rax again, and jmp to the target, or through the same
 *				register or operand.
 *				Or, without a call in place, a call of the copy's next instructions, which put the
 *				original return address in place of theirs: push of it, from behind the code, and pop;
 *				then jmp to the target as above
 *	others			the same bytes
 * In place of a call the processor must execute a call: else its prediction of returns is off by one from there on,
 * which costs 6 ns per open call (measured: 16 calls deep 107 ns in place of 21; so 30). If that is not the call in
 * place, the processor mispredicts only that return: 9 ns.
 *
 * It ends with a jmp to what follows in place, unless the last instruction does not go on there.
 *
 * Refused is what would notice: system calls (their address is in rcx, a thread may wait in them), traps, transactions,
 * far branches; branches with a prefix 66, and loops with f2 or f3, which processors understand differently; operands
 * relative to eip; calls that read their target by way of rsp, which has moved by then.
 *
 * Where a call faults since its operand can't be read, the copy may have pushed the return address already. It writes
 * to the eight bytes below the return address, too: they are the callee's then.
 */
#ifndef XAUDIT_TOOL_INDEX_TEMPLATE_H
#define XAUDIT_TOOL_INDEX_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/index.h"

struct template {
	uint8_t bytes[INDEX_TEMPLATE_MAX];
	struct index_fixup fixup[INDEX_FIXUPS_MAX];
	uint8_t size, fixups;
	uint8_t length; /* of the instructions in place */
	uint8_t inside[INDEX_JUMP - 1]; /* struct index_template's */
	bool calls;	/* the last of them is a call */
	uint8_t call, meets; /* struct index_template's */
	bool closed;	/* the last of them does not go on behind itself */
	/* One of them may fault: it divides, or loads or stores what is neither stack nor the file's own. */
	bool faults;
};

/*
 * Takes instructions from `bytes` on, `room` of which are code of this function, until they are `need` bytes long, or
 * one does not go on (then `length` may be less). site: their address; function: the function's; without: address of an
 * instruction that is to do nothing, or 0. in_place: a call may be made in place. Returns INDEX_REASON_USABLE,
 * UNDECODABLE, SHORT (the room ends before), CALL (a call within), INSTRUCTION or TARGET.
 */
enum index_reason template_make(struct template *to, const uint8_t *bytes, size_t room, uint64_t site,
	uint64_t function, unsigned need, uint64_t without, bool in_place);

#endif
