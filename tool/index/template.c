/* SPDX-License-Identifier: MIT */
#include "tool/index/template.h"

#include <string.h>

#include "tool/index/decode.h"

struct making {
	struct template *to;
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

static void put_call(struct making *making, const struct insn *insn, const uint8_t *bytes)
{
	struct template *to = making->to;
	size_t push;

	put(making, "\350\1\0\0\0\314", 6); /* a call past an int3: for the processor's account of calls */
	put(making, "\377\65\0\0\0", 6);    /* push of the eight bytes at the end */
	push = to->size;
	put(making, "\217\4\44", 3); /* pop to where the call has put its return address */
	if (insn->flow == INSN_CALL) {
		put_jump(making, insn->target);
	} else {
		size_t from = to->size;
		put_same(making, insn, bytes);
		/* From call, /2, to jmp, /4, of the same operand. */
		if (making->reason == INDEX_REASON_USABLE) {
			uint8_t *modrm = &to->bytes[from + insn->modrm_at];
			*modrm = (uint8_t)((*modrm & ~0x38) | 4 << 3);
		}
	}
	if (making->reason != INDEX_REASON_USABLE)
		return;
	to->bytes[push - 4] = (uint8_t)(to->size - push);
	put(making, "\0\0\0\0\0\0\0", 8);
	fix(making, INDEX_FIX_ADDRESS, to->size - 8u, to->size, insn->address + insn->length);
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
	uint64_t function, unsigned need, uint64_t without)
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
		if (!without || insn.address != without)
			put_instruction(&making, &insn, bytes + to->length);
		if (making.reason != INDEX_REASON_USABLE)
			return making.reason;
		to->length = (uint8_t)(to->length + insn.length);
	}
	if (!to->closed && !to->calls)
		put_jump(&making, site + to->length);
	return making.reason;
}
