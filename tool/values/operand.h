/* SPDX-License-Identifier: MIT */
/*
 * Arguments of a program's own probe (tool/probe/usdt.h), as its note has them, in the words of the assembler:
 *
 *	N@OP	N: bytes, 1, 2, 4 or 8; with - a number with its sign; with an f behind it a float or double
 *	OP	%REGISTER, whole or a part of one; $NUMBER; $SYMBOL
 *		DISPLACEMENT(%BASE,%INDEX,SCALE) and all parts of it; SYMBOL, SYMBOL+NUMBER(%rip)
 *
 * Keeps nothing, allocates nothing.
 */
#ifndef XAUDIT_TOOL_VALUES_OPERAND_H
#define XAUDIT_TOOL_VALUES_OPERAND_H

#include "tool/values/expression.h"

#define OPERANDS_MOST 12 /* that <sys/sdt.h> can make */

/*
 * Reads them into `to`; returns how many there are. One that can't be had has no code (size 0): its register is none
 * that is kept, its form or its symbol is not known.
 */
unsigned operands_read(const char *arguments, values_symbol *look, void *context,
	struct values_operand to[OPERANDS_MOST]);

#endif
