/* SPDX-License-Identifier: MIT */
#include "tool/values/parser.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS 6   /* in registers */
#define ARGUMENT_MOST 64
#define NESTED 8 /* brackets, most: the machine's stack holds more */

static const char *const registers[VALUES_REGISTERS] = { "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8",
	"r9", "r10", "r11", "r12", "r13", "r14", "r15" };
static const uint8_t argument_registers[ARGUMENTS] = { VALUES_RDI, VALUES_RSI, VALUES_RDX, VALUES_RCX, VALUES_R8,
	VALUES_R9 };

static const struct parser_type types[] = {
	{ "int8", VALUES_TYPE_SIGNED, 1 }, { "int16", VALUES_TYPE_SIGNED, 2 }, { "int32", VALUES_TYPE_SIGNED, 4 },
	{ "int64", VALUES_TYPE_SIGNED, 8 }, { "uint8", VALUES_TYPE_UNSIGNED, 1 },
	{ "uint16", VALUES_TYPE_UNSIGNED, 2 }, { "uint32", VALUES_TYPE_UNSIGNED, 4 },
	{ "uint64", VALUES_TYPE_UNSIGNED, 8 }, { "int", VALUES_TYPE_SIGNED, 4 }, { "long", VALUES_TYPE_SIGNED, 8 },
	{ "hex", VALUES_TYPE_HEX, 8 }, { "ptr", VALUES_TYPE_POINTER, 8 }, { "float", VALUES_TYPE_FLOAT, 4 },
	{ "double", VALUES_TYPE_DOUBLE, 8 }, { "string", VALUES_TYPE_TEXT, 0 }, { "ustring", VALUES_TYPE_TEXT, 0 },
	{ "bytes", VALUES_TYPE_BYTES, 0 }, { "array", VALUES_TYPE_STRUCTS, 0 },
	{ "text", VALUES_TYPE_TEXT, 0 }, { "stdstring", VALUES_TYPE_TEXT, 0 },
	{ "oldstring", VALUES_TYPE_TEXT, 0 }, { "cxxstring", VALUES_TYPE_TEXT, 0 },
};

struct parser parser_of(const char *at, size_t length, const struct values_known *known, struct values_wrong *wrong)
{
	return (struct parser){ .at = at, .end = at + length, .known = known, .wrong = wrong };
}

const struct parser_type *parser_type(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (parser_is(word, length, types[i].word))
			return &types[i];
	return NULL;
}

const char *parser_register_word(uint8_t number)
{
	return registers[number];
}

/* ---- the text ---- */

bool parser_fail(struct parser *p, const char *before, const char *part, size_t length, const char *after)
{
	*p->wrong = (struct values_wrong){ .before = before, .after = after };
	snprintf(p->wrong->part, sizeof(p->wrong->part), "%.*s", (int)length, part);
	return false;
}

void parser_skip(struct parser *p)
{
	while (p->at < p->end && isspace((unsigned char)*p->at))
		p->at++;
}

bool parser_take(struct parser *p, const char *what)
{
	size_t length = strlen(what);

	parser_skip(p);
	if ((size_t)(p->end - p->at) < length || strncmp(p->at, what, length) != 0)
		return false;
	p->at += length;
	return true;
}

size_t parser_word(const struct parser *p)
{
	size_t n = 0;

	while (p->at + n < p->end && (isalnum((unsigned char)p->at[n]) || strchr("_.$@", p->at[n])))
		n++;
	return n;
}

bool parser_is(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && !strncmp(text, word, length);
}

bool parser_number(struct parser *p, uint64_t *number)
{
	char text[32], *end;
	size_t n = 0;

	parser_skip(p);
	const char *from = p->at;
	bool negative = from < p->end && *from == '-';
	from += negative;
	while (from + n < p->end && isalnum((unsigned char)from[n]) && n + 1 < sizeof(text))
		n++;
	if (!n || !isdigit((unsigned char)*from))
		return false;
	memcpy(text, from, n);
	text[n] = '\0';
	errno = 0;
	*number = strtoull(text, &end, 0);
	if (*end || errno)
		return false;
	*number = negative ? -*number : *number;
	p->at = from + n;
	return true;
}

/* ---- code ---- */

void parser_emit(struct parser *p, uint8_t op, uint64_t operand, size_t size)
{
	if (sizeof(p->code) - p->size < 1 + size) {
		p->full = true;
		return;
	}
	p->code[p->size++] = op;
	for (size_t i = 0; i < size; i++, operand >>= 8)
		p->code[p->size++] = (uint8_t)operand;
}

void parser_emit_number(struct parser *p, uint64_t number)
{
	int64_t value = (int64_t)number;

	if (value == (int8_t)value)
		parser_emit(p, VALUES_BYTE, number, 1);
	else if (value == (int32_t)value)
		parser_emit(p, VALUES_HALF, number, 4);
	else
		parser_emit(p, VALUES_WORD, number, 8);
}

/* A number of the N in argN, or 0. */
static unsigned numbered(const char *text, size_t length, const char *word)
{
	size_t n = strlen(word);
	unsigned number = 0;

	if (length <= n || length > n + 2 || strncmp(text, word, n) != 0 || text[n] == '0')
		return 0;
	for (; n < length; n++) {
		if (!isdigit((unsigned char)text[n]))
			return 0;
		number = number * 10 + (unsigned)(text[n] - '0');
	}
	return number;
}

static enum values_at at_of(const struct parser *p)
{
	return p->known ? p->known->at : VALUES_AT_CALL;
}

/* Pushes a word of the call; at a probe, one that is there at that moment. */
static bool push(struct parser *p, uint8_t op, uint8_t operand)
{
	if (at_of(p) != VALUES_AT_CALL)
		operand &= (uint8_t)~PARSER_END;
	parser_emit(p, op, operand, 1);
	p->at_end |= at_of(p) == VALUES_AT_CALL &&
		     ((operand & PARSER_END) || (op == VALUES_TASK && operand == VALUES_TASK_ERRNO));
	for (size_t i = 0; p->known && i < p->known->words; i++)
		if (p->known->word[i].op == op && p->known->word[i].operand == operand)
			p->word = &p->known->word[i];
	return true;
}

/* argN of a probe of the program's own. Returns false: it has none of that number, or this one can't be had. */
static bool push_operand(struct parser *p, unsigned n)
{
	if (!p->known->operand) {
		parser_emit(p, VALUES_BYTE, 0, 1);
		return true;
	}
	if (n > p->known->operands || !p->known->operand[n - 1].size)
		return false;
	parser_append(p, p->known->operand[n - 1].code, p->known->operand[n - 1].size);
	p->word = &p->known->operand[n - 1].is;
	return true;
}

bool parser_name(struct parser *p, const char *name, size_t length)
{
	static const struct {
		const char *word;
		uint8_t op, operand;
	} names[] = {
		{ "ret", VALUES_REGISTER, VALUES_RAX | PARSER_END }, { "fret", VALUES_FLOAT, 0 | PARSER_END },
		{ "ret2", VALUES_REGISTER, VALUES_RDX | PARSER_END }, { "fret2", VALUES_FLOAT, 1 | PARSER_END },
		{ "errno", VALUES_TASK, VALUES_TASK_ERRNO }, { "tid", VALUES_TASK, VALUES_TASK_TID },
		{ "cpu", VALUES_TASK, VALUES_TASK_CPU }, { "calls", VALUES_TASK, VALUES_TASK_CALLS },
	};
	unsigned n = numbered(name, length, "arg");

	if (n && at_of(p) == VALUES_AT_USDT)
		return push_operand(p, n);
	if (n > ARGUMENTS && at_of(p) != VALUES_AT_CALL)
		return false;
	if (n && n <= ARGUMENT_MOST)
		return n <= ARGUMENTS ? push(p, VALUES_REGISTER, argument_registers[n - 1])
				      : push(p, VALUES_STACK, (uint8_t)(n - ARGUMENTS - 1));
	n = numbered(name, length, "farg");
	if (n && n <= 8)
		return push(p, VALUES_FLOAT, (uint8_t)(n - 1));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (parser_is(name, length, names[i].word))
			return (!(names[i].operand & PARSER_END) || at_of(p) == VALUES_AT_CALL ||
				       at_of(p) == VALUES_AT_RETURN) &&
			       push(p, names[i].op, names[i].operand);
	for (size_t i = 0; p->known && i < p->known->words; i++)
		if (p->known->word[i].name && parser_is(name, length, p->known->word[i].name))
			return push(p, p->known->word[i].op, p->known->word[i].operand);
	return false;
}

static bool push_symbol(struct parser *p, const char *name, size_t length)
{
	char text[256];
	uint64_t address;

	snprintf(text, sizeof(text), "%.*s", (int)length, name);
	if (!p->known || !p->known->look || !p->known->look(p->known->context, text, &address)) {
		parser_fail(p, "no symbol", name, length, "is known");
		p->wrong->unknown = true;
		return false;
	}
	parser_emit_number(p, address);
	parser_emit(p, VALUES_VARIABLE, 0, 0);
	return true;
}

bool parser_register(struct parser *p)
{
	size_t length = parser_word(p);

	for (uint8_t i = 0; i < VALUES_REGISTERS; i++)
		if (parser_is(p->at, length, registers[i])) {
			parser_emit(p, VALUES_REGISTER, i, 1);
			p->at += length;
			return true;
		}
	return parser_fail(p, "no register is called", p->at, length, "");
}

static bool expression(struct parser *p, uint8_t size, bool inner, int depth);

/* Bytes of what leads to members: ->next[2].name; 0: nothing does. */
static size_t path_length(const struct parser *p)
{
	size_t n = 0;

	for (const char *at = p->at; at + n < p->end;) {
		if (!strncmp(at + n, "->", 2) && at + n + 2 < p->end)
			n += 2;
		else if (at[n] == '[' || (n && (at[n] == '.' || at[n] == ']' || at[n] == '_' ||
						      isalnum((unsigned char)at[n]))))
			n++;
		else
			break;
	}
	return n;
}

/* The members behind a word, whose beginning is `from`. */
static bool members(struct parser *p, const char *from)
{
	size_t length = path_length(p);
	struct values_path path = { .size = 0 };

	if (!length)
		return true;
	*p->wrong = (struct values_wrong){ .unknown = true };
	if (!p->known || !p->known->follow ||
		!p->known->follow(p->known->follow_context, p->word, p->at, length, &path, p->wrong)) {
		if (!p->wrong->before)
			parser_fail(p, "no type is known for", from, (size_t)(p->at + length - from), "");
		return false;
	}
	p->at += length;
	parser_append(p, path.code, path.size);
	p->member = path.is;
	p->word = &p->member;
	return true;
}

/* +OFFSET(expression); &OFFSET(expression) reads nothing there. */
static bool memory(struct parser *p, uint8_t size, int depth)
{
	const char *from = p->at;
	bool minus = *from == '-', reads = *from != '&';
	uint64_t number;

	p->at++;
	if (!parser_number(p, &number) || !parser_take(p, "("))
		return parser_fail(p, "expected an offset and brackets, as in +8(arg1), not", from,
			(size_t)(p->end - from), "");
	if (!expression(p, 8, true, depth + 1))
		return false;
	if (!parser_take(p, ")"))
		return parser_fail(p, "a bracket of", from, (size_t)(p->end - from), "is not closed");
	if (number) {
		parser_emit_number(p, number);
		parser_emit(p, minus ? VALUES_SUBTRACT : VALUES_ADD, 0, 0);
	}
	if (reads)
		parser_emit(p, VALUES_READ, size, 1);
	p->word = NULL;
	return true;
}

/* An expression, but what follows it. */
static bool term(struct parser *p, uint8_t size, bool inner, int depth)
{
	uint64_t number;

	parser_skip(p);
	const char *from = p->at;
	if (depth > NESTED)
		return parser_fail(p, "too many brackets in", from, (size_t)(p->end - from), "");
	if (from < p->end && (*from == '+' || *from == '-' || *from == '&'))
		return memory(p, size, depth);
	if (parser_take(p, "%"))
		return parser_register(p);
	if (parser_number(p, &number)) {
		parser_emit_number(p, number);
		parser_emit(p, VALUES_VARIABLE, 0, 0);
	} else {
		size_t length = parser_word(p);
		if (!length)
			return parser_fail(p, "expected a value, not", p->at, (size_t)(p->end - p->at), "");
		p->at += length;
		if (parser_name(p, from, length))
			return members(p, from);
		if (!push_symbol(p, from, length))
			return false;
		if (path_length(p))
			return members(p, from);
	}
	if (!inner)
		parser_emit(p, VALUES_READ, size, 1);
	return true;
}

static bool expression(struct parser *p, uint8_t size, bool inner, int depth)
{
	uint64_t bits;

	if (!term(p, size, inner, depth))
		return false;
	parser_skip(p);
	const char *from = p->at;
	if (!parser_take(p, ">>"))
		return true;
	if (!parser_number(p, &bits) || bits > 63)
		return parser_fail(p, "expected how many bits, 0 to 63, not", from, (size_t)(p->end - from), "");
	parser_emit(p, VALUES_SHIFT_RIGHT, bits, 1);
	p->word = NULL;
	return true;
}

bool parser_expression(struct parser *p, uint8_t size, bool inner)
{
	p->word = NULL;
	return expression(p, size, inner, 0);
}

size_t parser_operand(uint8_t op)
{
	static const uint8_t sizes[VALUES_OPERATIONS] = {
#define X(number, NAME, operand, popped, pushed) [number] = operand,
		VALUES_OPS(X)
#undef X
	};

	return sizes[op];
}

void parser_append(struct parser *p, const uint8_t *code, size_t size)
{
	if (sizeof(p->code) - p->size < size) {
		p->full = true;
		return;
	}
	memcpy(p->code + p->size, code, size);
	p->size += size;
}

void parser_extend(struct parser *p, const struct values_word *word)
{
	if (word && word->size && word->size < 8)
		parser_emit(p, word->type == VALUES_TYPE_SIGNED ? VALUES_SIGNED : VALUES_UNSIGNED, word->size, 1);
}

bool parser_push(const char *word, uint8_t *op, uint8_t *operand)
{
	struct values_wrong wrong;
	struct parser p = parser_of(word, strlen(word), NULL, &wrong);

	if (!parser_expression(&p, 8, false) || p.at < p.end || p.size != 2)
		return false;
	*op = p.code[0];
	*operand = p.code[1];
	return *op == VALUES_REGISTER || *op == VALUES_STACK || *op == VALUES_FLOAT;
}
