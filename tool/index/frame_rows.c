/* SPDX-License-Identifier: MIT */
#include "tool/index/frame_rows.h"

#include <dwarf.h>

#include "tool/index/cursor.h"
#include "tool/index/decode.h" /* INSN_RSP */

/* Registers of DWARF. */
#define RBP_COLUMN    6
#define RETURN_COLUMN 16

#define REMEMBER 16

static int8_t reg_of(uint64_t number)
{
	return number == 7 ? INSN_RSP : number == RBP_COLUMN ? INSN_RBP : number == 10 ? 10 : INSN_NO_REG;
}

struct rows {
	const struct frame *frame;
	frame_row_taker *row;
	void *arg;
	struct frame_row now;
	const struct frame_row *start; /* what the CIE says; NULL: that is being found out */
	struct frame_row kept[REMEMBER];
	size_t depth;
};

static void give(struct rows *rows, uint64_t to)
{
	const struct frame *frame = rows->frame;

	if (frame->return_column != RETURN_COLUMN)
		rows->now.back.how = FRAME_PLACE_OTHER;
	rows->now.no_return = rows->now.back.how == FRAME_PLACE_UNDEFINED;
	rows->row(rows->arg, &rows->now, to < frame->start + frame->size ? to : frame->start + frame->size);
}

static void advance(struct rows *rows, uint64_t to)
{
	/* A CIE's are of no place. */
	rows->now.damaged |= !rows->start;
	if (to != rows->now.from && rows->start)
		give(rows, to);
	rows->now.from = to;
}

/*
 * Each of these takes what is behind an instruction, if it is one of its sort; else it returns false. Of some, `low` is
 * the low six bits of op, which is the rest.
 */

/* Where the next row begins. */
static bool run_place(struct rows *rows, struct cursor *at, uint8_t op, uint8_t low)
{
	uint64_t from = rows->now.from, factor = rows->frame->code_factor;

	switch (op) {
	case DW_CFA_advance_loc:
		advance(rows, from + low * factor);
		return true;
	case DW_CFA_advance_loc1:
		advance(rows, from + cursor_take(at, 1) * factor);
		return true;
	case DW_CFA_advance_loc2:
		advance(rows, from + cursor_take(at, 2) * factor);
		return true;
	case DW_CFA_advance_loc4:
		advance(rows, from + cursor_take(at, 4) * factor);
		return true;
	case DW_CFA_set_loc:
		advance(rows, cursor_pointer(at, rows->frame->encoding));
		return true;
	default:
		return false;
	}
}

static void set_cfa(struct frame_row *now, uint64_t number, int64_t offset)
{
	now->reg = reg_of(number);
	now->offset = offset;
	now->expression = now->expression_end = NULL;
}

/* Where the caller's frame is. */
static bool run_cfa(struct frame_row *now, struct cursor *at, uint8_t op, int64_t factor)
{
	struct cursor block;
	uint64_t number;

	switch (op) {
	case DW_CFA_def_cfa:
		number = cursor_leb(at, false);
		set_cfa(now, number, (int64_t)cursor_leb(at, false));
		return true;
	case DW_CFA_def_cfa_sf:
		number = cursor_leb(at, false);
		set_cfa(now, number, (int64_t)(cursor_leb(at, true) * (uint64_t)factor));
		return true;
	case DW_CFA_def_cfa_register:
		set_cfa(now, cursor_leb(at, false), now->offset);
		return true;
	case DW_CFA_def_cfa_offset:
		now->offset = (int64_t)cursor_leb(at, false);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		now->offset = (int64_t)(cursor_leb(at, true) * (uint64_t)factor);
		return true;
	case DW_CFA_def_cfa_expression:
		block = cursor_block(at);
		now->reg = INSN_NO_REG;
		now->expression = block.p;
		now->expression_end = block.end;
		return true;
	default:
		return false;
	}
}

/* Where we note what is said of this register; NULL: we don't. */
static struct frame_place *place_of(struct frame_row *row, uint64_t number)
{
	return number == RBP_COLUMN ? &row->rbp : number == RETURN_COLUMN ? &row->back : NULL;
}

static void set_place(struct rows *rows, uint64_t number, struct frame_place place)
{
	struct frame_place *to = place_of(&rows->now, number);

	if (to)
		*to = place;
}

static void restore(struct rows *rows, uint64_t number)
{
	struct frame_row start = rows->start ? *rows->start : (struct frame_row){ .damaged = true };
	const struct frame_place *from = place_of(&start, number);

	rows->now.damaged |= start.damaged;
	if (from)
		set_place(rows, number, *from);
}

static struct frame_place at_cfa(uint64_t offset)
{
	return (struct frame_place){ .how = FRAME_PLACE_AT, .offset = (int64_t)offset };
}

/* Where a register is: those whose number is all that there is, or that have an offset. */
static bool run_register(struct rows *rows, struct cursor *at, uint8_t op, uint8_t low)
{
	uint64_t factor = (uint64_t)rows->frame->data_factor, number;

	switch (op) {
	case DW_CFA_offset:
		set_place(rows, low, at_cfa(cursor_leb(at, false) * factor));
		return true;
	case DW_CFA_offset_extended:
		number = cursor_leb(at, false);
		set_place(rows, number, at_cfa(cursor_leb(at, false) * factor));
		return true;
	case DW_CFA_offset_extended_sf:
		number = cursor_leb(at, false);
		set_place(rows, number, at_cfa(cursor_leb(at, true) * factor));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		number = cursor_leb(at, false);
		set_place(rows, number, at_cfa(-(cursor_leb(at, false) * factor)));
		return true;
	case DW_CFA_restore:
		restore(rows, low);
		return true;
	case DW_CFA_restore_extended:
		restore(rows, cursor_leb(at, false));
		return true;
	case DW_CFA_undefined:
		set_place(rows, cursor_leb(at, false), (struct frame_place){ .how = FRAME_PLACE_UNDEFINED });
		return true;
	case DW_CFA_same_value:
		set_place(rows, cursor_leb(at, false), (struct frame_place){ .how = FRAME_PLACE_SAME });
		return true;
	default:
		return false;
	}
}

/* Where a register is, said in another form. */
static bool run_other(struct rows *rows, struct cursor *at, uint8_t op)
{
	struct cursor block;
	uint64_t number;

	switch (op) {
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		number = cursor_leb(at, false);
		block = cursor_block(at);
		set_place(rows, number,
			(struct frame_place){
				.how = op == DW_CFA_expression ? FRAME_PLACE_EXPRESSION : FRAME_PLACE_COMPUTED,
				.expression = block.p,
				.expression_end = block.end });
		return true;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		set_place(rows, cursor_leb(at, false), (struct frame_place){ .how = FRAME_PLACE_OTHER });
		cursor_leb(at, false);
		return true;
	case DW_CFA_GNU_args_size:
		cursor_leb(at, false);
		return true;
	default:
		return false;
	}
}

/* What is kept for later, and taken back. */
static bool run_state(struct rows *rows, uint8_t op)
{
	uint64_t from = rows->now.from;

	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_remember_state:
		if (rows->depth == REMEMBER)
			return false;
		rows->kept[rows->depth++] = rows->now;
		return true;
	case DW_CFA_restore_state:
		if (!rows->depth)
			return false;
		rows->now = rows->kept[--rows->depth];
		rows->now.from = from;
		return true;
	default:
		return false;
	}
}

static void run(struct rows *rows, struct cursor at)
{
	bool known = true;

	while (at.p < at.end && !at.bad && known) {
		uint8_t op = (uint8_t)cursor_take(&at, 1), low = op & 0x3f;
		op = op & 0xc0 ? op & 0xc0 : op;
		known = run_place(rows, &at, op, low) || run_register(rows, &at, op, low) ||
			run_cfa(&rows->now, &at, op, rows->frame->data_factor) || run_state(rows, op) ||
			run_other(rows, &at, op);
	}
	if (at.bad || !known) {
		rows->now.reg = INSN_NO_REG;
		rows->now.damaged = true;
	}
}

void frame_each_row(const struct frame *frame, frame_row_taker *row, void *arg)
{
	struct rows rows;

	rows.frame = frame;
	rows.row = row;
	rows.arg = arg;
	rows.now = (struct frame_row){ .from = frame->start, .reg = INSN_NO_REG };
	rows.start = NULL;
	rows.depth = 0;
	run(&rows, (struct cursor){ frame->initial, frame->initial_end, 0, false });
	struct frame_row start = rows.now;
	rows.start = &start;
	rows.now.from = frame->start;
	rows.depth = 0;
	run(&rows, (struct cursor){ frame->program, frame->program_end, frame->program_address, false });
	give(&rows, frame->start + frame->size);
}

struct taken {
	struct frame_row *row;
	size_t count, room;
};

static void take_row(void *arg, const struct frame_row *row, uint64_t to)
{
	struct taken *taken = arg;

	(void)to;
	if (taken->count < taken->room)
		taken->row[taken->count++] = *row;
	else
		taken->row[taken->room - 1].reg = INSN_NO_REG;
}

size_t frame_rows(const struct frame *frame, struct frame_row *row, size_t room)
{
	struct taken taken = { .row = row, .room = room };

	frame_each_row(frame, take_row, &taken);
	return taken.count;
}
