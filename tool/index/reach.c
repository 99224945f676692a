/* SPDX-License-Identifier: MIT */
#include "tool/index/reach.h"

#include <string.h>

#define BIT(reg) (1u << (unsigned)(reg))

enum { RAX = 0, RCX = 1, RDX = 2, RBX = 3, RSI = 6, RDI = 7, R11 = 11 };

enum {
	WORD = 8,	/* bytes of a return address */
	FAR = 1 << 24,	/* frames are smaller */
	WIDEST = 64,	/* bytes of a vector */
	/* Those that instructions write which don't name them; and those that a callee may. */
	IMPLICIT = BIT(RAX) | BIT(RCX) | BIT(RDX) | BIT(RBX) | BIT(RSI) | BIT(RDI) | BIT(R11),
	VOLATILE = BIT(RAX) | BIT(RCX) | BIT(RDX) | BIT(RSI) | BIT(RDI) | 0xf00, /* r8 to r11 */
};

static bool knows(const struct reach *reach, int reg)
{
	return reg >= 0 && reg < REACH_REGISTERS && reach->now.known & BIT(reg);
}

static void forget(struct reach *reach, int reg)
{
	if (reg >= 0 && reg < REACH_REGISTERS)
		reach->now.known &= ~BIT(reg);
}

static void set(struct reach *reach, int reg, int64_t distance)
{
	if (reg < 0 || reg >= REACH_REGISTERS)
		return;
	if (distance <= -FAR || distance >= FAR) {
		forget(reach, reg);
		return;
	}
	reach->now.known |= BIT(reg);
	reach->now.distance[reg] = (int32_t)distance;
}

static void set_row(struct reach *reach, const struct frame_row *row)
{
	if (row->reg >= 0 && row->reg < REACH_REGISTERS && !row->no_return)
		set(reach, row->reg, WORD - row->offset);
}

void reach_begin(struct reach *reach, uint64_t function, uint64_t end, const struct frame_row *row)
{
	reach->now.known = 0;
	reach->ended = false;
	reach->words = reach->joins = 0;
	memset(reach->may_join, 0, sizeof(reach->may_join));
	reach->function = function;
	reach->end = end;
	set_row(reach, row);
}

/* ---- where ways meet ---- */

/* The one of this address, or where it would be: NULL: too many. */
static struct reach_join *join_at(struct reach *reach, uint64_t address)
{
	for (uint64_t i = address * 0x9e3779b97f4a7c15u >> 56;; i++) {
		struct reach_join *join = &reach->join[i % REACH_JOINS];
		if (join->function != reach->function || !join->address)
			return reach->joins < REACH_JOINS / 2 ? join : NULL;
		if (join->address == address)
			return join;
	}
}

static void merge(struct reach_state *to, const struct reach_state *from)
{
	to->known &= from->known;
	for (int reg = 0; reg < REACH_REGISTERS; reg++)
		if (to->known & BIT(reg) && to->distance[reg] != from->distance[reg])
			to->known &= ~BIT(reg);
}

/* What a branch hands to its target, if that comes later. */
static void hand(struct reach *reach, const struct insn *insn, const struct reach_state *state)
{
	uint64_t address = insn->target;
	struct reach_join *join = address > insn->address && address < reach->end ? join_at(reach, address) : NULL;

	if (!join)
		return;
	if (join->function == reach->function && join->address == address) {
		merge(&join->state, state);
		return;
	}
	*join = (struct reach_join){ address, reach->function, *state };
	reach->joins++;
	reach->may_join[address / 64 % 16] |= (uint64_t)1 << address % 64;
}

static void arrive(struct reach *reach, uint64_t address, const struct frame_row *row)
{
	bool may = reach->may_join[address / 64 % 16] >> address % 64 & 1;
	const struct reach_join *join = may ? join_at(reach, address) : NULL;

	if (join && (join->function != reach->function || join->address != address))
		join = NULL;
	if (join && reach->ended)
		reach->now = join->state;
	else if (join)
		merge(&reach->now, &join->state);
	else if (reach->ended)
		reach->now.known = 0;
	if (join || reach->ended)
		reach->words = 0;
	if (row && (row->from == address || (reach->ended && !join)))
		set_row(reach, row);
	reach->ended = false;
}

/* ---- words of the stack ---- */

static void forget_words(struct reach *reach, int64_t from, int64_t to)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < reach->words; i++)
		if (reach->word[i].distance + WORD <= from || reach->word[i].distance >= to)
			reach->word[kept++] = reach->word[i];
	reach->words = kept;
}

static void store(struct reach *reach, int64_t distance, int reg)
{
	forget_words(reach, distance, distance + WORD);
	if (!knows(reach, reg))
		return;
	if (reach->words == REACH_WORDS)
		memmove(&reach->word[0], &reach->word[1], --reach->words * sizeof(reach->word[0]));
	reach->word[reach->words].distance = (int32_t)distance;
	reach->word[reach->words++].holds = reach->now.distance[reg];
}

static void load(struct reach *reach, int64_t distance, int reg)
{
	forget(reach, reg);
	for (unsigned i = 0; i < reach->words; i++)
		if (reach->word[i].distance == distance)
			set(reach, reg, reach->word[i].holds);
}

/* ---- one instruction ---- */

/* Is its operand on the stack, as far as is known? */
static bool operand(const struct reach *reach, const struct insn *insn, int64_t *distance)
{
	if (!insn->memory || insn->nop || insn->segment || insn->short_address || insn->index != INSN_NO_REG ||
		insn_is_lea(insn) || !knows(reach, insn->base))
		return false;
	*distance = (int64_t)reach->now.distance[insn->base] + insn->displacement;
	/* pop computes its address when it has moved rsp. */
	if (insn->base == INSN_RSP && insn_is_pop(insn))
		*distance += WORD;
	return true;
}

static bool overlaps(int64_t distance, int64_t bytes)
{
	return distance < WORD && distance + bytes > 0;
}

/* By way of rsi and rdi: movs, cmps, stos, lods, scas. */
static bool by_string(const struct reach *reach, const struct insn *insn)
{
	if (insn->map || insn->opcode < 0xa4 || insn->opcode > 0xaf || insn->opcode == 0xa8 || insn->opcode == 0xa9)
		return false;
	bool from = insn->opcode < 0xa8 || insn->opcode == 0xac || insn->opcode == 0xad;
	bool to = insn->opcode != 0xac && insn->opcode != 0xad;
	return (from && knows(reach, RSI) && overlaps(reach->now.distance[RSI], 1)) ||
	       (to && knows(reach, RDI) && overlaps(reach->now.distance[RDI], 1));
}

static bool reaches(const struct reach *reach, const struct insn *insn)
{
	bool rsp = knows(reach, INSN_RSP);
	int64_t distance, top = reach->now.distance[INSN_RSP];

	if (operand(reach, insn, &distance) && !insn_is_fence(insn)) {
		struct insn_effect effect = { .bytes = 1 };
		if (distance < 0 && distance > (insn->map ? -WIDEST : -WORD))
			insn_effect(&effect);
		if (overlaps(distance, effect.bytes))
			return true;
	}
	if (by_string(reach, insn))
		return true;
	if (insn_is_push(insn) || insn->flow == INSN_CALL || insn->flow == INSN_CALL_INDIRECT)
		return rsp && overlaps(top - WORD, WORD);
	if (insn_is_pop(insn))
		return rsp && overlaps(top, WORD);
	return insn_is_leave(insn) && knows(reach, INSN_RBP) && overlaps(reach->now.distance[INSN_RBP], WORD);
}

static void push(struct reach *reach, const struct insn *insn)
{
	int reg = insn->map == 0 && (insn->opcode & 0xf8) == 0x50 ? (insn->opcode & 7) | insn->rex_b << 3
								   : INSN_NO_REG;

	if (!knows(reach, INSN_RSP))
		return;
	if (insn->narrow) {
		forget(reach, INSN_RSP);
		return;
	}
	store(reach, reach->now.distance[INSN_RSP] - WORD, reg);
	set(reach, INSN_RSP, reach->now.distance[INSN_RSP] - WORD);
}

static void pop(struct reach *reach, const struct insn *insn)
{
	bool rsp = knows(reach, INSN_RSP);
	int64_t top = reach->now.distance[INSN_RSP], distance;

	if (operand(reach, insn, &distance))
		forget_words(reach, distance, distance + WORD);
	if (rsp && !insn->narrow)
		set(reach, INSN_RSP, top + WORD);
	else
		forget(reach, INSN_RSP);
	if (insn->map || (insn->opcode & 0xf8) != 0x58)
		return;
	int reg = (insn->opcode & 7) | insn->rex_b << 3;
	if (rsp && !insn->narrow)
		load(reach, top, reg);
	else
		forget(reach, reg);
}

static void leave(struct reach *reach)
{
	forget(reach, INSN_RSP);
	if (!knows(reach, INSN_RBP))
		return;
	int64_t frame = reach->now.distance[INSN_RBP];
	load(reach, frame, INSN_RBP);
	set(reach, INSN_RSP, frame + WORD);
}

static void call(struct reach *reach, const struct insn *insn)
{
	struct reach_state within = reach->now;

	within.distance[INSN_RSP] -= WORD;
	if (insn->flow == INSN_CALL)
		hand(reach, insn, &within);
	/* What follows is where it leads, or where it comes back. */
	if (insn->flow == INSN_CALL && insn->target == insn->address + insn->length) {
		reach->ended = true;
		return;
	}
	reach->now.known &= ~(uint32_t)VOLATILE;
}

/* Whatever is not known to leave registers alone, or to add to them. */
static void change(struct reach *reach, const struct insn *insn)
{
	struct insn_effect effect;
	uint32_t may = IMPLICIT;
	int64_t distance;

	if (operand(reach, insn, &distance))
		forget_words(reach, distance, distance + WIDEST);
	if (insn->map >= 16)
		may = UINT32_MAX;
	if (insn->modrm)
		may |= BIT(insn->reg) | (insn->rm != INSN_NO_REG ? BIT(insn->rm) : 0);
	else
		may |= BIT((insn->opcode & 7) | insn->rex_b << 3);
	if (!(reach->now.known & may))
		return;
	insn_effect(&effect);
	reach->now.known &= ~effect.written;
}

static void exchange(struct reach_state *state, int a, int b)
{
	uint32_t known = state->known & ~(BIT(a) | BIT(b));
	int32_t distance = state->distance[a];

	known |= (state->known >> a & 1) << b | (state->known >> b & 1) << a;
	state->distance[a] = state->distance[b];
	state->distance[b] = distance;
	state->known = known;
}

/* mov of a register or word of the stack, lea, add and sub of a number, xchg. Returns false: none of them. */
static bool compute(struct reach *reach, const struct insn *insn)
{
	int64_t distance;

	if (insn->map || !insn->modrm || (!insn->wide && !insn_is_lea(insn)))
		return false;
	int from = insn->opcode == 0x8b ? insn->rm : insn->reg, to = insn->opcode == 0x8b ? insn->reg : insn->rm;
	switch (insn->opcode) {
	case 0x89:
	case 0x8b:
		if (to == INSN_NO_REG) {
			if (operand(reach, insn, &distance))
				store(reach, distance, from);
		} else if (from != INSN_NO_REG) {
			if (knows(reach, from))
				set(reach, to, reach->now.distance[from]);
			else
				forget(reach, to);
		} else if (operand(reach, insn, &distance)) {
			load(reach, distance, to);
		} else {
			forget(reach, to);
		}
		return true;
	case 0x8d:
		if (insn->wide && !insn->short_address && insn->index == INSN_NO_REG && knows(reach, insn->base))
			set(reach, insn->reg, (int64_t)reach->now.distance[insn->base] + insn->displacement);
		else
			forget(reach, insn->reg);
		return true;
	case 0x81:
	case 0x83:
		if (insn->rm == INSN_NO_REG || ((insn->reg & 7) != 0 && (insn->reg & 7) != 5))
			return false;
		if (knows(reach, insn->rm))
			set(reach, insn->rm, (int64_t)reach->now.distance[insn->rm] +
						     ((insn->reg & 7) == 0 ? insn->immediate : -insn->immediate));
		return true;
	case 0x87:
		if (insn->rm == INSN_NO_REG)
			return false;
		exchange(&reach->now, insn->rm, insn->reg);
		return true;
	default:
		return false;
	}
}

static void move(struct reach *reach, const struct insn *insn)
{
	if (insn->flow == INSN_CALL || insn->flow == INSN_CALL_INDIRECT)
		call(reach, insn);
	else if (insn_has_target(insn))
		hand(reach, insn, &reach->now);
	else if (insn_is_push(insn))
		push(reach, insn);
	else if (insn_is_pop(insn))
		pop(reach, insn);
	else if (insn_is_leave(insn))
		leave(reach);
	else if (!insn->nop && !compute(reach, insn))
		change(reach, insn);
	reach->ended |= insn_ends(insn);
}

bool reach_see(struct reach *reach, const struct insn *insn, const struct frame_row *row)
{
	/* What fills the code behind an end. */
	if (reach->ended && insn->nop)
		return false;
	arrive(reach, insn->address, row);
	bool found = reaches(reach, insn);
	move(reach, insn);
	return found;
}
