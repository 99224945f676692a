/* SPDX-License-Identifier: MIT */
/*
 * From the text of one expression (expression.h) to code. Private to tool/values/expression.c, condition.c and
 * parser.c. A parser is a place in a text, and the code that was made of what is before it; nothing is allocated.
 */
#ifndef XAUDIT_TOOL_VALUES_PARSER_H
#define XAUDIT_TOOL_VALUES_PARSER_H

#include "tool/values/expression.h"

struct parser {
	const char *at, *end;
	const struct values_known *known;
	struct values_wrong *wrong;
	uint8_t code[VALUES_CODE];
	size_t size;
	const struct values_word *word; /* what the expression is, and nothing else; NULL */
	struct values_word member;	/* that, if it is one */
	bool at_end; /* it is found when the call ends */
	bool full;
};

/* In the operand of a word that the end finds, while code is made. Others are of the entry, which keeps them for it. */
#define PARSER_END 0x80

struct parser_type {
	const char *word;
	enum values_type type;
	uint8_t size; /* 0: what lies at an address */
};

struct parser parser_of(const char *at, size_t length, const struct values_known *known, struct values_wrong *wrong);

/* Always false. */
bool parser_fail(struct parser *p, const char *before, const char *part, size_t length, const char *after);

void parser_skip(struct parser *p); /* blanks */
bool parser_take(struct parser *p, const char *what);
/* Letters, digits, and what names of symbols have else. */
size_t parser_word(const struct parser *p);
bool parser_is(const char *text, size_t length, const char *word);
/* A number in C's forms, with its sign. */
bool parser_number(struct parser *p, uint64_t *number);

/* The type of this word; NULL: there is none. */
const struct parser_type *parser_type(const char *word, size_t length);

void parser_emit(struct parser *p, uint8_t op, uint64_t operand, size_t size);
void parser_emit_number(struct parser *p, uint64_t number);
/* More than there may be becomes p->full. */
void parser_append(struct parser *p, const uint8_t *code, size_t size);
/* Bytes of an operation's operand. */
size_t parser_operand(uint8_t op);

/* A name that stands for a word of the call. Returns false: it is none. */
bool parser_name(struct parser *p, const char *name, size_t length);
/* %REGISTER, behind the %. */
bool parser_register(struct parser *p);
const char *parser_register_word(uint8_t number);

/*
 * An expression. size: of what lies at an address, where its outermost part is one. inner: it is itself an address, so
 * a bare one is not read.
 */
bool parser_expression(struct parser *p, uint8_t size, bool inner);

/* Has a word of 8 bytes be the number that its lower bytes are, by its type. NULL: it stays as it is. */
void parser_extend(struct parser *p, const struct values_word *word);

/* The code that pushes this word of a call: "arg2", "farg1", "%rdi", "ret". Returns false: it is none. */
bool parser_push(const char *word, uint8_t *op, uint8_t *operand);

#endif
