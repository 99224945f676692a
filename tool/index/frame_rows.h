/* SPDX-License-Identifier: MIT */
/*
 * The instructions of an FDE, run: for each address of its code, where the caller's frame and registers are, by rows
 * that hold from one address up to the next one's. One thread. Damaged instructions end the rows with a row that says
 * so.
 */
#ifndef XAUDIT_TOOL_INDEX_FRAME_ROWS_H
#define XAUDIT_TOOL_INDEX_FRAME_ROWS_H

#include "tool/index/frames.h"

/* Where a register of the caller's is. */
enum frame_place_how {
	FRAME_PLACE_SAME,	/* in itself: nothing is said of it, or just that */
	FRAME_PLACE_UNDEFINED,
	FRAME_PLACE_AT,		/* in the word at CFA + offset */
	FRAME_PLACE_EXPRESSION, /* in the word whose address an expression tells */
	FRAME_PLACE_COMPUTED,	/* what an expression tells */
	FRAME_PLACE_OTHER,	/* in another register, or that less a number */
};

struct frame_place {
	enum frame_place_how how;
	int64_t offset;
	const uint8_t *expression, *expression_end;
};

/* From `from` on, the caller's frame (CFA) is at register + offset, or where an expression says. */
struct frame_row {
	uint64_t from;
	int64_t offset;
	const uint8_t *expression, *expression_end; /* NULL: none */
	int8_t reg;	 /* as in struct insn; INSN_NO_REG: not said in this form */
	bool damaged;	 /* nothing is known */
	bool no_return;	 /* there is no return address */
	struct frame_place rbp, back; /* back: the return address */
};

/*
 * Calls row() for each row, in the order in which the FDE has them. It holds up to `to`, which is not behind the code
 * of the FDE; in damaged ones this may lie before its beginning.
 */
typedef void frame_row_taker(void *arg, const struct frame_row *row, uint64_t to);
void frame_each_row(const struct frame *frame, frame_row_taker *row, void *arg);

/* Its rows, at most `room`; at least one. Those that don't fit are left out, and the last has no form. */
size_t frame_rows(const struct frame *frame, struct frame_row *row, size_t room);

#endif
