/* SPDX-License-Identifier: MIT */
#include "tool/index/copy.h"

#include <string.h>

#include "tool/index/decode.h"

void copy_put(struct copy *copy, const void *bytes, size_t n)
{
	if (n > (size_t)(copy->room - copy->size)) {
		copy->reason = INDEX_REASON_INSTRUCTION;
		return;
	}
	memcpy(copy->bytes + copy->size, bytes, n);
	copy->size = (uint16_t)(copy->size + n);
}

static void put_byte(struct copy *copy, uint8_t byte)
{
	copy_put(copy, &byte, 1);
}

void copy_fix(struct copy *copy, enum probe_fix what, size_t at, size_t end, int64_t target)
{
	if (copy->fixups == copy->fixups_room) {
		copy->reason = INDEX_REASON_INSTRUCTION;
	} else if (target != (int32_t)target) {
		copy->reason = INDEX_REASON_TARGET;
	} else {
		copy->fixup[copy->fixups++] = (struct probe_fixup){
			.at = (uint16_t)at, .end = (uint16_t)end, .fix = (uint8_t)what, .target = (int32_t)target
		};
	}
}

/* 32 bits that lead to the target, at the end of an instruction. */
static void put_near(struct copy *copy, uint64_t target)
{
	copy_put(copy, "\0\0\0", 4);
	copy_fix(copy, PROBE_FIX_NEAR, copy->size - 4u, copy->size, (int64_t)(target - copy->base));
}

void copy_jump(struct copy *copy, uint64_t target)
{
	put_byte(copy, 0xe9);
	put_near(copy, target);
}

/* The instruction as it is, with its operand relative to rip. */
static void put_same(struct copy *copy, const struct insn *insn, const uint8_t *bytes)
{
	size_t from = copy->size;

	copy_put(copy, bytes, insn->length);
	if (insn->memory && insn->base == INSN_RIP)
		copy_fix(copy, PROBE_FIX_NEAR, from + insn->displacement_at, from + insn->length,
			(int64_t)(insn->target - copy->base));
}

static void put_loop(struct copy *copy, const struct insn *insn)
{
	if (insn->short_address)
		put_byte(copy, 0x67);
	put_byte(copy, insn->opcode);
	copy_put(copy, "\2\353\5", 3); /* past the jmp that leads past the next */
	copy_jump(copy, insn->target);
}

enum { TO_JMP = 4, TO_PUSH = 6 }; /* call is 2, of the same operand */

/* An indirect call made another instruction. */
static void put_other(struct copy *copy, const struct insn *insn, const uint8_t *bytes, unsigned reg)
{
	size_t from = copy->size;

	put_same(copy, insn, bytes);
	if (copy->reason == INDEX_REASON_USABLE) {
		uint8_t *modrm = &copy->bytes[from + insn->modrm_at];
		*modrm = (uint8_t)((*modrm & ~0x38) | reg << 3);
	}
}

/* To where the call goes. */
static void put_target(struct copy *copy, const struct insn *insn, const uint8_t *bytes)
{
	if (insn->flow == INSN_CALL)
		copy_jump(copy, insn->target);
	else
		put_other(copy, insn, bytes, TO_JMP);
}

/* A push of eight bytes that come behind the code: returns what put_pushed() takes. */
static size_t put_push(struct copy *copy)
{
	copy_put(copy, "\377\65\0\0\0", 6);
	return copy->size;
}

static void put_pushed(struct copy *copy, size_t push, uint64_t address)
{
	if (copy->reason != INDEX_REASON_USABLE)
		return;
	copy->bytes[push - 4] = (uint8_t)(copy->size - push);
	copy_put(copy, "\0\0\0\0\0\0\0", 8);
	copy_fix(copy, PROBE_FIX_ADDRESS, copy->size - 8u, copy->size, (int64_t)(address - copy->base));
}

static void put_call(struct copy *copy, const struct insn *insn, const uint8_t *bytes, enum index_call_in call)
{
	const uint64_t end = insn->address + insn->length;
	size_t push;

	switch (call) {
	case INDEX_CALL_BY_STACK:
		push = insn->flow == INSN_CALL ? put_push(copy) : 0;
		if (!push)
			put_other(copy, insn, bytes, TO_PUSH);
		copy_put(copy, "\110\215\144\44\10", 5); /* lea 8(%rsp),%rsp */
		copy_jump(copy, end - COPY_BY_STACK_SIZE);
		if (push)
			put_pushed(copy, push, insn->target);
		break;
	case INDEX_CALL_BY_RAX:
		copy_put(copy, "\110\211\104\44\360", 5);	/* mov %rax,-16(%rsp) */
		copy_put(copy, "\110\215\5\5\0\0", 7);	/* lea of what is behind the jmp, to rax */
		copy_jump(copy, end - COPY_BY_RAX_SIZE);
		copy_put(copy, "\110\213\104\44\370", 5);	/* mov -8(%rsp),%rax: the same place */
		put_target(copy, insn, bytes);
		break;
	default:
		copy_put(copy, "\350\1\0\0\0\314", 6); /* a call past an int3: for the processor's account of calls */
		push = put_push(copy);
		copy_put(copy, "\217\4\44", 3); /* pop to where the call has put its return address */
		put_target(copy, insn, bytes);
		put_pushed(copy, push, end);
	}
}

/* Branches mean the same elsewhere, calls also where rsp has moved by a push. */
bool copy_refuses(const struct insn *insn)
{
	if (insn->flow == INSN_OTHER || insn->flow == INSN_STOP)
		return true;
	if (insn->flow != INSN_NEXT && insn->narrow)
		return true;
	/* Processors take f2 and f3 before loope for its condition. */
	if (insn->flow == INSN_LOOP && insn->repeated)
		return true;
	if (insn->short_address && insn->memory && insn->base == INSN_RIP)
		return true;
	return insn->flow == INSN_CALL_INDIRECT && (insn->base == INSN_RSP || insn->rm == INSN_RSP);
}

/* Strings (movs, cmps, stos, lods, scas, xlat), by registers that no operand names; prefetches, which never fault. */
static bool is_string(const struct insn *insn)
{
	return insn->map == 0 && ((insn->opcode >= 0xa4 && insn->opcode <= 0xaf && (insn->opcode & 0xfe) != 0xa8) ||
					 insn->opcode == 0xd7);
}

static bool is_prefetch(const struct insn *insn)
{
	return insn->map == 1 && (insn->opcode == 0x18 || insn->opcode == 0x0d);
}

static bool is_division(const struct insn *insn)
{
	return insn->map == 0 && (insn->opcode == 0xf6 || insn->opcode == 0xf7) && (insn->reg & 7) >= 6;
}

bool copy_may_fault(struct copy *copy, const struct insn *insn)
{
	if (is_string(insn) || is_division(insn))
		return true;
	if (insn->wide && ((insn_is(insn, 0, 0x89) && insn->rm == INSN_RBP && insn->reg == INSN_RSP) ||
				  (insn_is(insn, 0, 0x8b) && insn->reg == INSN_RBP && insn->rm == INSN_RSP)))
		copy->frame = true;
	if (!insn->memory || insn->nop || insn->segment || insn_is_lea(insn) || is_prefetch(insn))
		return false;
	if (insn->base == INSN_RBP)
		return !copy->frame || insn->index != INSN_NO_REG;
	return insn->index != INSN_NO_REG || (insn->base != INSN_RSP && insn->base != INSN_RIP && insn->base >= 0);
}

void copy_instruction(struct copy *copy, const struct insn *insn, const uint8_t *bytes, enum index_call_in call)
{
	if (copy_refuses(insn)) {
		copy->reason = INDEX_REASON_INSTRUCTION;
		return;
	}
	switch (insn->flow) {
	case INSN_JUMP:
		copy_jump(copy, insn->target);
		break;
	case INSN_JCC:
		put_byte(copy, 0x0f);
		put_byte(copy, (uint8_t)(0x80 | (insn->opcode & 15)));
		put_near(copy, insn->target);
		break;
	case INSN_LOOP:
		put_loop(copy, insn);
		break;
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
		put_call(copy, insn, bytes, call);
		break;
	default:
		put_same(copy, insn, bytes);
		break;
	}
}
