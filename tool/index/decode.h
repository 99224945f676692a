/* SPDX-License-Identifier: MIT */
/*
 * One instruction, as the index needs it: where it goes on, what it addresses. All that knows the decoder (Zydis).
 * Any thread.
 */
#ifndef XAUDIT_TOOL_INDEX_DECODE_H
#define XAUDIT_TOOL_INDEX_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_flow {
	INSN_NEXT,	     /* goes on behind itself */
	INSN_JUMP,	     /* direct, as the next three: `target` */
	INSN_JCC,
	INSN_LOOP,	     /* loop, loope, loopne, jrcxz, jecxz: eight bits of distance, no longer form */
	INSN_CALL,
	INSN_JUMP_INDIRECT,
	INSN_CALL_INDIRECT,
	INSN_RET,
	INSN_STOP,	     /* ud2, hlt: nothing goes on behind it */
	INSN_OTHER,	     /* cares where it stands, or who is told: system calls, traps, far ones, transactions */
};

enum { INSN_RSP = 4, INSN_RBP = 5, INSN_RIP = 16, INSN_NO_REG = -1 };

struct insn {
	uint64_t address;
	uint64_t target; /* of direct ones, and of an aborted transaction; of an operand relative to rip: its address */
	int64_t immediate;
	int32_t displacement;
	uint8_t length;
	uint8_t flow; /* enum insn_flow */
	uint8_t opcode, map; /* map: 0, 1 (0f), 2, 3; VEX and EVEX: 16 and more */
	uint8_t displacement_at; /* offset of 32 bits; of operands relative to rip */
	uint8_t modrm_at;	 /* offset; the opcode is the byte before it */
	int8_t base, index; /* of the operand in memory; INSN_NO_REG */
	int8_t reg;	     /* register field of ModRM, 0 to 15 */
	int8_t rm;	     /* the other register; INSN_NO_REG where that is memory */
	bool relative;	     /* a branch to `target` of any sort */
	bool modrm, memory;  /* memory: addressed by ModRM; lea and nop address nothing but look so */
	bool wide, rex_b;    /* REX.W, REX.B */
	bool narrow;	     /* a prefix 66, of a branch: processors differ */
	bool short_address;  /* a prefix 67 */
	bool segment;	     /* fs: or gs: */
	bool has_immediate;
	bool repeated;	     /* a prefix f2 or f3 */
	bool nop;	     /* one that fills, or int3 */
};

/* Returns 1; or 0: no instruction that we know, or not whole within `room`. */
int insn_decode(const uint8_t *bytes, size_t room, uint64_t address, struct insn *insn);

/*
 * Writes it as text, in Intel's syntax (Zydis leaves out the stars of AT&T's). Returns its length in bytes; 0: as
 * insn_decode().
 */
unsigned insn_text(const uint8_t *bytes, size_t room, uint64_t address, char *to, size_t size);

/* What it does to general registers and to its operand in memory. */
struct insn_effect {
	uint32_t written; /* a bit per register; those that a callee may change are none of a call's */
	unsigned bytes;	  /* of the operand that ModRM addresses; 0: none */
};

/* Of the instruction that insn_decode() took last on this thread: asked of few, since it takes as long again. */
void insn_effect(struct insn_effect *effect);

static inline int insn_has_target(const struct insn *insn)
{
	return insn->flow >= INSN_JUMP && insn->flow <= INSN_CALL;
}

/* Is what stands behind it not reached from it, as far as it tells itself? */
static inline int insn_ends(const struct insn *insn)
{
	return insn->flow == INSN_JUMP || insn->flow == INSN_JUMP_INDIRECT || insn->flow == INSN_RET ||
	       insn->flow == INSN_STOP;
}

/* ---- which one is it? Of legacy ones: those with VEX and EVEX neither move rsp nor load it. ---- */

static inline bool insn_is(const struct insn *insn, uint8_t map, uint8_t opcode)
{
	return insn->map == map && insn->opcode == opcode;
}

static inline bool insn_is_lea(const struct insn *insn)
{
	return insn_is(insn, 0, 0x8d);
}

static inline bool insn_is_leave(const struct insn *insn)
{
	return insn_is(insn, 0, 0xc9);
}

/* lock or $0: what gcc writes for a full fence, on whatever lies on top of the stack. */
static inline bool insn_is_fence(const struct insn *insn)
{
	return insn_is(insn, 0, 0x83) && (insn->reg & 7) == 1 && insn->has_immediate && !insn->immediate;
}

/* push and pop of a register or of memory, of flags and segments. */
static inline bool insn_is_push(const struct insn *insn)
{
	if (insn->map == 1)
		return insn->opcode == 0xa0 || insn->opcode == 0xa8;
	return insn->map == 0 && ((insn->opcode & 0xf8) == 0x50 || insn->opcode == 0x68 || insn->opcode == 0x6a ||
					 insn->opcode == 0x9c || (insn->opcode == 0xff && (insn->reg & 7) == 6));
}

static inline bool insn_is_pop(const struct insn *insn)
{
	if (insn->map == 1)
		return insn->opcode == 0xa1 || insn->opcode == 0xa9;
	return insn->map == 0 &&
	       ((insn->opcode & 0xf8) == 0x58 || insn->opcode == 0x9d || (insn->opcode == 0x8f && insn->modrm));
}

#endif
