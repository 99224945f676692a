/* SPDX-License-Identifier: MIT */
/*
 * Code that does elsewhere what instructions do in place, one after another: of a displaced entry (template.h), or of a
 * window of probes (tool/probe/window_code.h). Pure; any thread.
 *
 * What stands there for an instruction:
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
 * Refused is what would notice: system calls (their address is in rcx, a thread may wait in them), traps, transactions,
 * far branches; branches with a prefix 66, and loops with f2 or f3, which processors understand differently; operands
 * relative to eip; calls that read their target by way of rsp, which has moved by then.
 *
 * No instruction but a call writes below the stack pointer, or changes flags, other than it does in place. A call
 * writes, besides its return address, to the eight bytes below that: they are the callee's then. Where it faults since
 * its operand can't be read, the copy may have pushed the return address already.
 */
#ifndef XAUDIT_TOOL_INDEX_COPY_H
#define XAUDIT_TOOL_INDEX_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/index.h"
#include "format/probe.h"

struct insn;

/* The writer's; what has no room, or can't be, is not written, and `reason` says why, for good. */
struct copy {
	uint8_t *bytes;
	struct probe_fixup *fixup;
	uint16_t room, fixups_room;
	uint16_t size, fixups;
	uint64_t base; /* targets count from here */
	bool frame;    /* rbp is rsp's, as far as the instructions say */
	enum index_reason reason; /* INDEX_REASON_USABLE, INSTRUCTION, or TARGET: too far from `base` */
};

void copy_put(struct copy *copy, const void *bytes, size_t n);

/* `at` and `end` count from the beginning of the code; target: what counts from `base`, or a number. */
void copy_fix(struct copy *copy, enum probe_fix what, size_t at, size_t end, int64_t target);

/* jmp to a link-time address. */
void copy_jump(struct copy *copy, uint64_t target);

/* What does the same as the instruction. call: how a call is made. */
void copy_instruction(struct copy *copy, const struct insn *insn, const uint8_t *bytes, enum index_call_in call);

/* Will copy_instruction() refuse it? */
bool copy_refuses(const struct insn *insn);

/* May the address that it uses be one where nothing is? Of each instruction, in order: it sees frames made. */
bool copy_may_fault(struct copy *copy, const struct insn *insn);

enum { COPY_BY_STACK_SIZE = 4, COPY_BY_RAX_SIZE = 2 }; /* of the calls in place, which end where the original does */

#endif
