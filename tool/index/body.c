/* SPDX-License-Identifier: MIT */
#include "tool/index/body.h"

#define BIT(reg) (1u << (unsigned)(reg))

static const struct frame_row *row_at(struct body *body, uint64_t address)
{
	while (body->at + 1 < body->rows && body->row[body->at + 1].from <= address)
		body->at++;
	return &body->row[body->at];
}

void body_begin(struct body *body, const struct frame *frame, uint64_t address, uint64_t end)
{
	body->rows = 0;
	body->at = 0;
	body->moved = body->stack = body->reads_return = false;
	body->from_stack = BIT(INSN_RSP) | BIT(INSN_RBP);
	body->to_stack = body->saved = 0;
	if (frame) {
		body->rows = frame_rows(frame, body->row, BODY_ROWS);
		for (size_t i = 0; i < body->rows; i++)
			body->stack |= body->row[i].no_return;
	} else {
		body->rows = 1;
		body->row[0] = (struct frame_row){ .reg = INSN_RSP, .offset = 8 };
	}
	row_at(body, address);
	/* A part of a function has one row, too, but not the one that functions begin with. */
	body->relied = body->rows > 1 || !body_is_function(body);
	reach_begin(&body->reach, address, end, &body->row[body->at]);
}

bool body_is_function(const struct body *body)
{
	const struct frame_row *row = &body->row[body->at];

	return row->reg == INSN_RSP && row->offset == 8 && !row->no_return;
}

/* add, sub, and ... of rsp and something. */
static bool is_arithmetic_of_rsp(const struct insn *insn)
{
	if (insn->map || !insn->modrm)
		return false;
	if (insn->opcode >= 0x80 && insn->opcode <= 0x83)
		return insn->rm == INSN_RSP && (insn->reg & 7) != 7;
	if (insn->opcode >= 0x38 || (insn->opcode & 7) > 3)
		return false;
	return insn->opcode & 2 ? insn->reg == INSN_RSP : insn->rm == INSN_RSP;
}

/* The register that is loaded from another or from memory by mov or lea; INSN_NO_REG. */
static int loaded(const struct insn *insn)
{
	if (insn_is(insn, 0, 0x8b) || insn_is_lea(insn))
		return insn->reg;
	return insn_is(insn, 0, 0x89) ? insn->rm : INSN_NO_REG;
}

static bool from_stack(const struct body *body, int reg)
{
	return reg >= 0 && reg < 16 && body->from_stack & BIT(reg);
}

/* Which registers hold addresses of the stack, and what comes to rsp. */
static void follow(struct body *body, const struct insn *insn)
{
	int to = loaded(insn), from = INSN_NO_REG;

	if (insn_is(insn, 0, 0x8b))
		from = insn->rm;
	else if (insn_is(insn, 0, 0x89))
		from = insn->reg;
	if (insn->map == 0 && (insn->opcode == 0x87 || (insn->opcode & 0xf8) == 0x90) && !insn->nop) {
		/* xchg: of rsp with anything */
		body->stack |= insn->modrm ? insn->reg == INSN_RSP || insn->rm == INSN_RSP
					   : insn->opcode == 0x94 && !insn->rex_b;
	}
	if (insn_is(insn, 0, 0x5c) && !insn->rex_b)
		body->stack = true; /* pop %rsp */
	if ((insn_is(insn, 0, 0x01) && insn->rm == INSN_RSP) || (insn_is(insn, 0, 0x03) && insn->reg == INSN_RSP))
		body->stack = true; /* add of a register: compilers add numbers, and subtract registers */
	if (to == INSN_NO_REG)
		return;
	if (from != INSN_NO_REG || insn_is_lea(insn)) {
		int source = from != INSN_NO_REG ? from : insn->base;
		if (source == INSN_RSP && to < 16)
			body->saved |= BIT(to);
		if (to == INSN_RSP && !from_stack(body, source))
			body->to_stack |= source >= 0 && source < 16 ? BIT(source) : BIT(31);
		else if (from_stack(body, source) || (insn_is_lea(insn) && from_stack(body, insn->index)))
			body->from_stack |= BIT(to);
	} else if (insn->memory) {
		if (to == INSN_RSP)
			body->stack |= !from_stack(body, insn->base);
		else if (from_stack(body, insn->base))
			body->from_stack |= BIT(to);
	}
}

void body_see(struct body *body, const struct insn *insn)
{
	const struct frame_row *row = row_at(body, insn->address);

	if ((body->relied || !body->moved) && row->reg != INSN_NO_REG && !row->no_return) {
		/* Distance of the operand from the return address. */
		int64_t distance = insn->displacement - row->offset + 8;
		bool here = insn->memory && insn->base == row->reg && insn->index == INSN_NO_REG && !insn->segment;
		if (here && !insn->nop && !insn_is_lea(insn) && !insn_is_fence(insn) && distance >= 0 && distance < 8)
			body->reads_return = true;
		if (row->reg == INSN_RSP && row->offset == 8 && insn_is_pop(insn))
			body->reads_return = true;
	}
	if (reach_see(&body->reach, insn, body->relied && !row->no_return ? row : NULL))
		body->reads_return = true;
	if (insn->flow == INSN_RET && insn->has_immediate && insn->immediate)
		body->reads_return = true;
	follow(body, insn);
	if (insn_is_push(insn) || insn_is_pop(insn) || is_arithmetic_of_rsp(insn) || loaded(insn) == INSN_RSP ||
		insn_is(insn, 0, 0xc8) || insn_is_leave(insn))
		body->moved = true;
}

void body_end(struct body *body)
{
	body->stack |= (body->to_stack & ~body->saved) != 0;
}
