/* SPDX-License-Identifier: MIT */
#include "tool/values/condition.h"

#include <stdlib.h>
#include <string.h>

#include "tool/values/parser.h"

#define OPERATORS 6

enum operator { IS, IS_NOT, AT_MOST, AT_LEAST, BELOW, ABOVE };

/* What the words are compared as, and the operations for that. */
struct comparison {
	uint8_t less, equal;
	bool is_float, may_be_float;
};

static struct comparison comparison_of(enum values_type type)
{
	if (type == VALUES_TYPE_FLOAT || type == VALUES_TYPE_DOUBLE)
		return (struct comparison){ VALUES_LESS_FLOAT, VALUES_EQUAL_FLOAT, true, true };
	if (type == VALUES_TYPE_SIGNED || type == VALUES_TYPE_ERRNO)
		return (struct comparison){ VALUES_LESS, VALUES_EQUAL, false, false };
	return (struct comparison){ VALUES_BELOW, VALUES_EQUAL, false, false };
}

/* `left` and `right`, compared. Each may be code of several operations; NaN is neither less nor equal. */
static void emit_compare(struct parser *p, const struct comparison *by, enum operator op, const struct parser *left,
	const struct parser *right)
{
	bool swap = op == ABOVE || op == AT_LEAST;
	const struct parser *first = swap ? right : left, *second = swap ? left : right;

	if (op != IS && op != IS_NOT) {
		parser_append(p, first->code, first->size);
		parser_append(p, second->code, second->size);
		parser_emit(p, by->less, 0, 0);
		if (op == BELOW || op == ABOVE)
			return;
	}
	parser_append(p, first->code, first->size);
	parser_append(p, second->code, second->size);
	parser_emit(p, by->equal, 0, 0);
	if (op == IS_NOT)
		parser_emit(p, VALUES_NOT, 0, 0);
	if (op == AT_MOST || op == AT_LEAST)
		parser_emit(p, VALUES_OR, 0, 0);
}

/* The number, as code. */
static bool take_constant(struct parser *p, const struct comparison *by, struct parser *code)
{
	char text[32], *end;
	uint64_t number;
	double real;

	struct parser before = *p;
	if (!by->is_float && parser_number(p, &number) && !(by->may_be_float && p->at < p->end && *p->at == '.')) {
		parser_emit_number(code, number);
		return true;
	}
	*p = before;
	if (!by->may_be_float)
		return false;
	parser_skip(p);
	size_t left = (size_t)(p->end - p->at), n = left < sizeof(text) - 1 ? left : sizeof(text) - 1;
	memcpy(text, p->at, n);
	text[n] = '\0';
	real = strtod(text, &end);
	if (end == text)
		return false;
	p->at += end - text;
	memcpy(&number, &real, sizeof(number));
	parser_emit(code, VALUES_WORD, number, 8);
	return true;
}

static int take_operator(struct parser *p)
{
	static const char *const ops[OPERATORS] = { "==", "!=", "<=", ">=", "<", ">" };
	int op = 0;

	while (op < OPERATORS && !parser_take(p, ops[op]))
		op++;
	return op;
}

/* "TYPE:", if it is there. NULL: it is not. */
static const struct parser_type *take_type(struct parser *p)
{
	parser_skip(p);
	size_t length = parser_word(p);
	const struct parser_type *type = parser_type(p->at, length);

	if (!type || !type->size || p->at + length == p->end || p->at[length] != ':')
		return NULL;
	p->at += length + 1;
	return type;
}

/* One comparison. */
static bool compare(struct values_asked *asked, struct parser *p)
{
	const char *from = p->at;
	const struct parser_type *type = take_type(p);
	struct values_word as = { .type = VALUES_TYPE_SIGNED, .size = 8 };

	if (!parser_expression(p, type ? type->size : 8, false))
		return false;
	if (type)
		as = (struct values_word){ .type = type->type, .size = type->size };
	else if (p->word)
		as = *p->word;
	else if (p->code[0] == VALUES_FLOAT && p->size == 2)
		as.type = VALUES_TYPE_DOUBLE;
	struct comparison by = comparison_of(as.type);
	by.may_be_float = by.is_float || (p->known && p->known->any && !type);
	if (as.type == VALUES_TYPE_FLOAT)
		parser_emit(p, VALUES_WIDEN, 0, 0);
	else if (!by.is_float)
		parser_extend(p, &as);
	struct parser left = *p, right = { .size = 0 };
	p->size = 0;
	int op = take_operator(p);
	if (op == OPERATORS || !take_constant(p, &by, &right))
		return parser_fail(p, "a condition is as in arg1 > 100, not", from, (size_t)(p->end - from), "");
	parser_skip(p);
	if (p->at < p->end)
		return parser_fail(p, "what is", p->at, (size_t)(p->end - p->at), "behind a condition");
	emit_compare(p, &by, (enum operator)op, &left, &right);
	parser_emit(p, VALUES_UNLESS, 0, 0);
	p->full |= left.full;
	return values_add(asked, p->at_end ? &asked->end_if : &asked->entry_if, p);
}

bool values_ask_if(struct values_asked *asked, const char *condition, const struct values_known *known,
	struct values_wrong *wrong)
{
	for (const char *from = condition; from;) {
		const char *next = strstr(from, "&&");
		struct parser p = parser_of(from, next ? (size_t)(next - from) : strlen(from), known, wrong);
		if (!compare(asked, &p))
			return false;
		from = next ? next + 2 : NULL;
	}
	return true;
}
