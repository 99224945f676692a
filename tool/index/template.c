/* SPDX-License-Identifier: MIT */
#include "tool/index/template.h"

#include <string.h>

#include "tool/index/decode.h"

enum { BY_STACK_SIZE = 4, BY_RAX_SIZE = 2 }; /* displace_call() */

struct making {
	struct template *to;
	bool frame; /* rbp is rsp's */
	uint64_t function;
	enum index_reason reason;
};

static void put(struct making *making, const void *bytes, size_t n)
{
	struct template *to = making->to;

	if (n > sizeof(to->bytes) - to->size) {
		making->reason = INDEX_REASON_INSTRUCTION;
		return;
	}
	memcpy(to->bytes + to->size, bytes, n);
	to->size = (uint8_t)(to->size + n);
}

static void put_byte(struct making *making, uint8_t byte)
{
	put(making, &byte, 1);
}

/* `at` and `end` count from the beginning of the copy. */
static void fix(struct making *making, enum index_fix what, size_t at, size_t end, uint64_t target)
{
	struct template *to = making->to;
	int64_t distance = (int64_t)(target - making->function);

	if (to->fixups == INDEX_FIXUPS_MAX) {
		making->reason = INDEX_REASON_INSTRUCTION;
	} else if (distance != (int32_t)distance) {
		making->reason = INDEX_REASON_TARGET;
	} else {
		to->fixup[to->fixups++] = (struct index_fixup){
			.at = (uint8_t)at, .end = (uint8_t)end, .fix = (uint8_t)what, .target = (int32_t)distance
		};
	}
}

/* 32 bits that lead to the target, at the end of an instruction. */
static void put_near(struct making *making, uint64_t target)
{
	put(making, "\0\0\0", 4);
	fix(making, INDEX_FIX_NEAR, making->to->size - 4u, making->to->size, target);
}

static void put_jump(struct making *making, uint64_t target)
{
	put_byte(making, 0xe9);
	put_near(making, target);
}

/* The instruction as it is, with its operand relative to rip. */
static void put_same(struct making *making, const struct insn *insn, const uint8_t *bytes)
{
	size_t from = making->to->size;

	put(making, bytes, insn->length);
	if (insn->memory && insn->base == INSN_RIP)
		fix(making, INDEX_FIX_NEAR, from + insn->displacement_at, from + insn->length, insn->target);
}

static void put_loop(struct making *making, const struct insn *insn)
{
	if (insn->short_address)
		put_byte(making, 0x67);
	put_byte(making, insn->opcode);
	put(making, "\2\353\5", 3); /* past the jmp that leads past the next */
	put_jump(making, insn->target);
}

enum { TO_JMP = 4, TO_PUSH = 6 }; /* call is 2, of the same operand */

/* An indirect call made another instruction. */
static void put_other(struct making *making, const struct insn *insn, const uint8_t *bytes, unsigned reg)
{
	size_t from = making->to->size;

	put_same(making, insn, bytes);
	if (making->reason == INDEX_REASON_USABLE) {
		uint8_t *modrm = &making->to->bytes[from + insn->modrm_at];
		*modrm = (uint8_t)((*modrm & ~0x38) | reg << 3);
	}
}

/* To where the call goes. */
static void put_target(struct making *making, const struct insn *insn, const uint8_t *bytes)
{
	if (insn->flow == INSN_CALL)
		put_jump(making, insn->target);
	else
		put_other(making, insn, bytes, TO_JMP);
}

/* A push of eight bytes that come behind the code: returns what put_pushed() takes. */
static size_t put_push(struct making *making)
{
	put(making, "\377\65\0\0\0", 6);
	return making->to->size;
}

static void put_pushed(struct making *making, size_t push, uint64_t address)
{
	struct template *to = making->to;

	if (making->reason != INDEX_REASON_USABLE)
		return;
	to->bytes[push - 4] = (uint8_t)(to->size - push);
	put(making, "\0\0\0\0\0\0\0", 8);
	fix(making, INDEX_FIX_ADDRESS, to->size - 8u, to->size, address);
}

static void put_call(struct making *making, const struct insn *insn, const uint8_t *bytes)
{
	const uint64_t end = insn->address + insn->length;
	size_t push;

	switch (making->to->call) {
	case INDEX_CALL_BY_STACK:
		push = insn->flow == INSN_CALL ? put_push(making) : 0;
		if (!push)
			put_other(making, insn, bytes, TO_PUSH);
		put(making, "\110\215\144\44\10", 5); /* lea 8(%rsp),%rsp */
		put_jump(making, end - BY_STACK_SIZE);
		if (push)
			put_pushed(making, push, insn->target);
		break;
	case INDEX_CALL_BY_RAX:
		put(making, "\110\211\104\44\360", 5);	/* mov %rax,-16(%rsp) */
		put(making, "\110\215\5\5\0\0", 7);	/* lea of what is behind the jmp, to rax */
		put_jump(making, end - BY_RAX_SIZE);
		put(making, "\110\213\104\44\370", 5);	/* mov -8(%rsp),%rax: the same place */
		put_target(making, insn, bytes);
		break;
	default:
		put(making, "\350\1\0\0\0\314", 6); /* a call past an int3: for the processor's account of calls */
		push = put_push(making);
		put(making, "\217\4\44", 3); /* pop to where the call has put its return address */
		put_target(making, insn, bytes);
		put_pushed(making, push, end);
	}
}

/* How a call is made that ends so many bytes behind the jump. */
static void choose_call(struct template *to, unsigned behind, unsigned need)
{
	if (behind >= BY_STACK_SIZE)
		to->call = INDEX_CALL_BY_STACK;
	else if (behind >= BY_RAX_SIZE || (behind == BY_RAX_SIZE - 1 && need == INDEX_JUMP))
		to->call = INDEX_CALL_BY_RAX;
	to->meets = to->call && behind < BY_RAX_SIZE;
}

/* Branches mean the same elsewhere, calls also where rsp has moved by a push. */
static bool is_refused(const struct insn *insn)
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

/* May the address that it uses be one where nothing is? */
static bool may_fault(struct making *making, const struct insn *insn)
{
	if (is_string(insn) || is_division(insn))
		return true;
	if (insn->wide && ((insn_is(insn, 0, 0x89) && insn->rm == INSN_RBP && insn->reg == INSN_RSP) ||
				  (insn_is(insn, 0, 0x8b) && insn->reg == INSN_RBP && insn->rm == INSN_RSP)))
		making->frame = true;
	if (!insn->memory || insn->nop || insn->segment || insn_is_lea(insn) || is_prefetch(insn))
		return false;
	if (insn->base == INSN_RBP)
		return !making->frame || insn->index != INSN_NO_REG;
	return insn->index != INSN_NO_REG || (insn->base != INSN_RSP && insn->base != INSN_RIP && insn->base >= 0);
}

static void put_instruction(struct making *making, const struct insn *insn, const uint8_t *bytes)
{
	if (is_refused(insn)) {
		making->reason = INDEX_REASON_INSTRUCTION;
		return;
	}
	switch (insn->flow) {
	case INSN_JUMP:
		put_jump(making, insn->target);
		break;
	case INSN_JCC:
		put_byte(making, 0x0f);
		put_byte(making, (uint8_t)(0x80 | (insn->opcode & 15)));
		put_near(making, insn->target);
		break;
	case INSN_LOOP:
		put_loop(making, insn);
		break;
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
		put_call(making, insn, bytes);
		making->to->calls = true;
		break;
	default:
		put_same(making, insn, bytes);
		break;
	}
	making->to->closed = insn_ends(insn);
}

enum index_reason template_make(struct template *to, const uint8_t *bytes, size_t room, uint64_t site,
	uint64_t function, unsigned need, uint64_t without, bool in_place)
{
	struct making making = { .to = to, .function = function, .reason = INDEX_REASON_USABLE };

	memset(to, 0, sizeof(*to));
	while (to->length < need && !to->closed) {
		struct insn insn;
		/* What comes back to the bytes behind a call would find the jump there. */
		if (to->calls)
			return INDEX_REASON_CALL;
		if (to->length >= room)
			return INDEX_REASON_SHORT;
		if (!insn_decode(bytes + to->length, room - to->length, site + to->length, &insn))
			return INDEX_REASON_UNDECODABLE;
		if (to->length && to->length < INDEX_JUMP)
			to->inside[to->length - 1] = to->size;
		unsigned length = to->length + insn.length;
		bool calls = insn.flow == INSN_CALL || insn.flow == INSN_CALL_INDIRECT;
		bool runs = !without || insn.address != without;
		if (runs && calls && in_place && length > need)
			choose_call(to, length - need, need);
		if (runs) {
			to->faults |= may_fault(&making, &insn);
			put_instruction(&making, &insn, bytes + to->length);
		}
		if (making.reason != INDEX_REASON_USABLE)
			return making.reason;
		to->length = (uint8_t)length;
	}
	if (!to->closed && !to->calls)
		put_jump(&making, site + to->length);
	return making.reason;
}
