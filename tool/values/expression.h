/* SPDX-License-Identifier: MIT */
/*
 * Values that people ask for, in words, and the code that finds them (format/values.h).
 *
 *	contexts	context,context...	a comma within brackets divides nothing
 *	context		arg1 ... arg6, and further ones on the stack; farg1 ... farg8: a double
 *			ret, fret: what came back; errno
 *			tid, cpu, comm, calls (traced ones that are open)
 *			regs, reg:NAME
 *			TYPE:NAME:EXPRESSION
 *			out:CONTEXT	found when the call ends, as what the function has written to memory
 *	type		int8 ... int64, uint8 ... uint64, int, long, hex, ptr, float, double, string, ustring,
 *			bytes:SIZE, where SIZE is a number or an expression
 *	expression	argN, fargN, ret, fret, errno, tid, cpu, calls, %REGISTER
 *			+OFFSET(expression), -OFFSET(expression): the memory at that address
 *			NUMBER, SYMBOL: the variable that lies at that address; within brackets the address itself
 *	condition	expression OP NUMBER, joined by &&; OP is == != < <= > >=
 *
 * What needs ret, fret or errno is found when the call ends, all else when it begins; arguments of an expression of the
 * first kind are kept from the beginning. Memory is read with the size of the type, addresses as 8 bytes.
 *
 * Functions keep nothing, and allocate nothing.
 */
#ifndef XAUDIT_TOOL_VALUES_EXPRESSION_H
#define XAUDIT_TOOL_VALUES_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/values.h"

#define VALUES_NAME 48 /* of a value, with its NUL */

struct values_value {
	char name[VALUES_NAME];
	enum values_type type;
	uint8_t size; /* of a number; else 0 */
};

/* Code, and the values that it puts. */
struct values_program {
	uint8_t code[VALUES_CODE];
	size_t size;
	struct values_value value[VALUES_MOST];
	uint32_t values;
};

/* A word of the entry that the end needs. */
struct values_kept {
	uint8_t op, operand; /* that push it */
};

/* What is recorded of a function's calls. */
struct values_asked {
	struct values_program entry, end;
	struct values_program entry_if, end_if; /* conditions: they put nothing */
	struct values_kept kept[VALUES_KEPT];
	uint32_t keeps;
};

/* Why a text was not taken: "A 'B' C", where B is the part that is wrong. */
struct values_wrong {
	const char *before, *after;
	char part[64];
};

/*
 * Where a symbol lies in the function's object: its link-time address. Returns false: there is none, or nobody knows.
 */
typedef bool values_symbol(void *context, const char *name, uint64_t *address);

struct values_symbols {
	values_symbol *look; /* NULL: none is known */
	void *context;
};

/* Adds contexts. asked: zeros at first. Returns false, and *wrong, if the text is wrong; then *asked is undefined. */
bool values_ask(struct values_asked *asked, const char *contexts, const struct values_symbols *symbols,
	struct values_wrong *wrong);

/* Adds a condition; of several, all must hold. As values_ask(). */
bool values_ask_if(struct values_asked *asked, const char *condition, const struct values_symbols *symbols,
	struct values_wrong *wrong);

/*
 * Completes the code of entry and end. Returns false if it is too much: *wrong says of what. Afterwards `entry` and
 * `end` are code that the module takes; end.size 0: there is nothing to do at the end.
 */
bool values_complete(struct values_asked *asked, struct values_wrong *wrong);

#endif
