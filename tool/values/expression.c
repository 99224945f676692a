/* SPDX-License-Identifier: MIT */
#include "tool/values/expression.h"

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

static const struct type {
	const char *word;
	enum values_type type;
	uint8_t size;
} types[] = {
	{ "int8", VALUES_TYPE_SIGNED, 1 }, { "int16", VALUES_TYPE_SIGNED, 2 }, { "int32", VALUES_TYPE_SIGNED, 4 },
	{ "int64", VALUES_TYPE_SIGNED, 8 }, { "uint8", VALUES_TYPE_UNSIGNED, 1 },
	{ "uint16", VALUES_TYPE_UNSIGNED, 2 }, { "uint32", VALUES_TYPE_UNSIGNED, 4 },
	{ "uint64", VALUES_TYPE_UNSIGNED, 8 }, { "int", VALUES_TYPE_SIGNED, 4 }, { "long", VALUES_TYPE_SIGNED, 8 },
	{ "hex", VALUES_TYPE_HEX, 8 }, { "ptr", VALUES_TYPE_POINTER, 8 }, { "float", VALUES_TYPE_FLOAT, 4 },
	{ "double", VALUES_TYPE_DOUBLE, 8 }, { "string", VALUES_TYPE_TEXT, 0 }, { "ustring", VALUES_TYPE_TEXT, 0 },
	{ "bytes", VALUES_TYPE_BYTES, 0 },
};

/* A text on its way, and the code that is made of it. */
struct parser {
	const char *at, *end;
	const struct values_symbols *symbols;
	struct values_wrong *wrong;
	uint8_t code[VALUES_CODE];
	size_t size;
	bool at_end; /* it is found when the call ends */
	bool full;
};

/* ---- the text ---- */

/* Always false. */
static bool fail(struct parser *p, const char *before, const char *part, size_t length, const char *after)
{
	p->wrong->before = before;
	p->wrong->after = after;
	snprintf(p->wrong->part, sizeof(p->wrong->part), "%.*s", (int)length, part);
	return false;
}

static void skip_blanks(struct parser *p)
{
	while (p->at < p->end && isspace((unsigned char)*p->at))
		p->at++;
}

static bool take(struct parser *p, const char *what)
{
	size_t length = strlen(what);

	skip_blanks(p);
	if ((size_t)(p->end - p->at) < length || strncmp(p->at, what, length) != 0)
		return false;
	p->at += length;
	return true;
}

/* Letters, digits, and what names of symbols have else. */
static size_t word_length(const struct parser *p)
{
	size_t n = 0;

	while (p->at + n < p->end && (isalnum((unsigned char)p->at[n]) || strchr("_.$@", p->at[n])))
		n++;
	return n;
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && !strncmp(text, word, length);
}

/* A number in C's forms, with its sign. */
static bool take_number(struct parser *p, uint64_t *number)
{
	char text[32], *end;
	size_t n = 0;

	skip_blanks(p);
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

static void emit(struct parser *p, uint8_t op, uint64_t operand, size_t size)
{
	if (sizeof(p->code) - p->size < 1 + size) {
		p->full = true;
		return;
	}
	p->code[p->size++] = op;
	for (size_t i = 0; i < size; i++, operand >>= 8)
		p->code[p->size++] = (uint8_t)operand;
}

static void emit_number(struct parser *p, uint64_t number)
{
	int64_t value = (int64_t)number;

	if (value == (int8_t)value)
		emit(p, VALUES_BYTE, number, 1);
	else if (value == (int32_t)value)
		emit(p, VALUES_HALF, number, 4);
	else
		emit(p, VALUES_WORD, number, 8);
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

/* A name that stands for a word of the call. Returns false: it is none. */
static bool push_name(struct parser *p, const char *name, size_t length)
{
	static const struct {
		const char *word;
		uint8_t op, operand;
		bool at_end;
	} names[] = {
		{ "ret", VALUES_REGISTER, VALUES_RAX, true }, { "fret", VALUES_FLOAT, 0, true },
		{ "errno", VALUES_TASK, VALUES_TASK_ERRNO, true }, { "tid", VALUES_TASK, VALUES_TASK_TID, false },
		{ "cpu", VALUES_TASK, VALUES_TASK_CPU, false }, { "calls", VALUES_TASK, VALUES_TASK_CALLS, false },
	};
	unsigned n = numbered(name, length, "arg");

	if (n && n <= ARGUMENT_MOST) {
		if (n <= ARGUMENTS)
			emit(p, VALUES_REGISTER, argument_registers[n - 1], 1);
		else
			emit(p, VALUES_STACK, n - ARGUMENTS - 1, 1);
		return true;
	}
	n = numbered(name, length, "farg");
	if (n && n <= 8) {
		emit(p, VALUES_FLOAT, n - 1, 1);
		return true;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (is_word(name, length, names[i].word)) {
			emit(p, names[i].op, names[i].operand, 1);
			p->at_end |= names[i].at_end;
			return true;
		}
	return false;
}

static bool push_symbol(struct parser *p, const char *name, size_t length)
{
	char text[256];
	uint64_t address;

	snprintf(text, sizeof(text), "%.*s", (int)length, name);
	if (!p->symbols || !p->symbols->look || !p->symbols->look(p->symbols->context, text, &address))
		return fail(p, "no symbol", name, length, "is known");
	emit_number(p, address);
	emit(p, VALUES_BASE, 0, 0);
	emit(p, VALUES_ADD, 0, 0);
	return true;
}

static bool push_register(struct parser *p)
{
	size_t length = word_length(p);

	for (uint8_t i = 0; i < VALUES_REGISTERS; i++)
		if (is_word(p->at, length, registers[i])) {
			emit(p, VALUES_REGISTER, i, 1);
			p->at += length;
			return true;
		}
	return fail(p, "no register is called", p->at, length, "");
}

/*
 * An expression. size: of what lies at an address, where its outermost part is one. inner: it is itself an address, so
 * a bare one is not read.
 */
static bool expression(struct parser *p, uint8_t size, bool inner, int depth)
{
	uint64_t number;

	skip_blanks(p);
	const char *from = p->at;
	bool minus = from < p->end && *from == '-';
	if (depth > NESTED)
		return fail(p, "too many brackets in", from, (size_t)(p->end - from), "");
	if (from < p->end && (*from == '+' || minus)) {
		p->at++;
		if (!take_number(p, &number) || !take(p, "("))
			return fail(p, "expected an offset and brackets, as in +8(arg1), not", from,
				(size_t)(p->end - from), "");
		if (!expression(p, 8, true, depth + 1))
			return false;
		if (!take(p, ")"))
			return fail(p, "a bracket of", from, (size_t)(p->end - from), "is not closed");
		if (number) {
			emit_number(p, number);
			emit(p, minus ? VALUES_SUBTRACT : VALUES_ADD, 0, 0);
		}
		emit(p, VALUES_READ, size, 1);
		return true;
	}
	if (take(p, "%"))
		return push_register(p);
	bool bare = take_number(p, &number);
	if (bare) {
		emit_number(p, number);
	} else {
		size_t length = word_length(p);
		if (!length)
			return fail(p, "expected a value, not", p->at, (size_t)(p->end - p->at), "");
		p->at += length;
		if (push_name(p, from, length))
			return true;
		if (!push_symbol(p, from, length))
			return false;
	}
	if (!inner)
		emit(p, VALUES_READ, size, 1);
	return true;
}

/* ---- what is asked for ---- */

static struct parser parser_of(const char *at, size_t length, const struct values_symbols *symbols,
	struct values_wrong *wrong)
{
	return (struct parser){ .at = at, .end = at + length, .symbols = symbols, .wrong = wrong };
}

static size_t operand_size(uint8_t op)
{
	static const uint8_t sizes[VALUES_OPERATIONS] = {
#define X(number, NAME, operand, popped, pushed) [number] = operand,
		VALUES_OPS(X)
#undef X
	};

	return sizes[op];
}

/* Is it a word of the entry, which the end finds changed? */
static bool is_of_entry(uint8_t op, uint8_t operand)
{
	if (op == VALUES_STACK)
		return true;
	if (op == VALUES_FLOAT)
		return operand > 0;
	return op == VALUES_REGISTER && operand != VALUES_RAX;
}

/* Has the end take words of the entry from where that keeps them. Returns false: they are too many. */
static bool keep(struct values_asked *asked, struct parser *p)
{
	for (size_t at = 0; at < p->size; at += 1 + operand_size(p->code[at])) {
		uint8_t *op = &p->code[at];
		uint32_t i = 0;
		if (!is_of_entry(op[0], op[1]))
			continue;
		while (i < asked->keeps && (asked->kept[i].op != op[0] || asked->kept[i].operand != op[1]))
			i++;
		if (i == VALUES_KEPT)
			return fail(p, "more than", "8", 1, "arguments are needed when the call ends");
		asked->kept[i] = (struct values_kept){ op[0], op[1] };
		asked->keeps += i == asked->keeps;
		op[0] = VALUES_KEPT_WORD;
		op[1] = (uint8_t)i;
	}
	return true;
}

static bool append(struct values_program *to, struct parser *p)
{
	if (p->full || sizeof(to->code) - to->size < p->size)
		return fail(p, "that is too much:", "512", 3, "bytes of code are what there may be");
	memcpy(to->code + to->size, p->code, p->size);
	to->size += p->size;
	return true;
}

/* Adds the parser's code, which puts this value. */
static bool add_value(struct values_asked *asked, struct parser *p, const char *name, size_t length,
	enum values_type type, uint8_t size)
{
	struct values_program *to = p->at_end ? &asked->end : &asked->entry;

	if (to->values == VALUES_MOST)
		return fail(p, "more than", "32", 2, "values of a call");
	if (p->at_end && !keep(asked, p))
		return false;
	struct values_value *value = &to->value[to->values++];
	snprintf(value->name, sizeof(value->name), "%.*s", (int)length, name);
	value->type = type;
	value->size = size;
	return append(to, p);
}

/* bytes:SIZE:NAME:..., behind its first colon. Leaves the code of SIZE in *size, or its number in *most. */
static bool take_size(struct parser *p, struct parser *size, uint64_t *most)
{
	const char *colon = memchr(p->at, ':', (size_t)(p->end - p->at));

	if (!colon)
		return fail(p, "bytes needs a size, a name and an address, as in bytes:16:key:arg1, not", p->at,
			(size_t)(p->end - p->at), "");
	*size = parser_of(p->at, (size_t)(colon - p->at), p->symbols, p->wrong);
	if (take_number(size, most) && size->at == size->end) {
		if (!*most || *most > VALUES_RECORDED / 2)
			return fail(p, "bytes of size", p->at, (size_t)(colon - p->at), "; at most 768 are recorded");
		emit_number(size, *most);
	} else {
		size->at = p->at;
		*most = VALUES_TEXT;
		if (!expression(size, 8, true, 0))
			return false;
	}
	p->at_end |= size->at_end;
	p->at = colon + 1;
	return true;
}

static void emit_put(struct parser *p, const struct type *type, const struct parser *size, uint64_t most)
{
	switch (type->type) {
	case VALUES_TYPE_TEXT:
		emit(p, VALUES_PUT_TEXT, VALUES_TEXT, 2);
		break;
	case VALUES_TYPE_BYTES:
		for (size_t i = 0; i < size->size; i += 1 + operand_size(size->code[i])) {
			uint64_t operand = 0;
			size_t n = operand_size(size->code[i]);
			memcpy(&operand, size->code + i + 1, n);
			emit(p, size->code[i], operand, n);
		}
		emit(p, VALUES_PUT_BYTES, most, 2);
		break;
	default:
		emit(p, VALUES_PUT, type->size, 1);
	}
}

/* TYPE:NAME:EXPRESSION, behind the first colon. */
static bool typed(struct values_asked *asked, struct parser *p, const struct type *type)
{
	bool inner = type->type == VALUES_TYPE_TEXT || type->type == VALUES_TYPE_BYTES;
	struct parser size = { 0 };
	uint64_t most = 0;

	if (type->type == VALUES_TYPE_BYTES && !take_size(p, &size, &most))
		return false;
	const char *name = p->at, *colon = memchr(name, ':', (size_t)(p->end - name));
	if (!colon || colon == name)
		return fail(p, "a type needs a name and an expression, as in int:size:arg2, not", name,
			(size_t)(p->end - name), "");
	p->at = colon + 1;
	/* Text and bytes lie at an address; a bare one is theirs. */
	if (!expression(p, inner ? 8 : type->size, inner, 0))
		return false;
	skip_blanks(p);
	if (p->at < p->end)
		return fail(p, "what is", p->at, (size_t)(p->end - p->at), "behind a value");
	emit_put(p, type, &size, most);
	return add_value(asked, p, name, (size_t)(colon - name), type->type, type->size);
}

static bool every_register(struct values_asked *asked, const struct parser *of)
{
	for (uint8_t i = 0; i < VALUES_REGISTERS; i++) {
		struct parser p = parser_of(of->at, 0, of->symbols, of->wrong);
		emit(&p, VALUES_REGISTER, i, 1);
		emit(&p, VALUES_PUT, 8, 1);
		if (!add_value(asked, &p, registers[i], strlen(registers[i]), VALUES_TYPE_HEX, 8))
			return false;
	}
	return true;
}

/* One that is a word alone. */
static bool plain(struct values_asked *asked, struct parser *p)
{
	const char *name = p->at;
	size_t length = word_length(p);
	enum values_type type = VALUES_TYPE_SIGNED;
	uint8_t size = 8;

	if (length && p->at + length == p->end && is_word(name, length, "regs"))
		return every_register(asked, p);
	if (length && p->at + length == p->end && is_word(name, length, "comm")) {
		emit(p, VALUES_PUT_NAME, 0, 0);
		return add_value(asked, p, name, length, VALUES_TYPE_TEXT, 0);
	}
	if (!length || p->at + length != p->end || !push_name(p, name, length))
		return fail(p, "no context is called", name, (size_t)(p->end - name),
			"; there are argN, fargN, ret, fret, errno, tid, cpu, comm, calls, regs, reg:NAME, "
			"TYPE:NAME:EXPRESSION, out:CONTEXT");
	if (*name == 'f')
		type = VALUES_TYPE_DOUBLE;
	else if (is_word(name, length, "errno"))
		type = VALUES_TYPE_ERRNO;
	if (type == VALUES_TYPE_ERRNO || is_word(name, length, "tid") || is_word(name, length, "cpu") ||
		is_word(name, length, "calls"))
		size = 4;
	emit(p, VALUES_PUT, size, 1);
	return add_value(asked, p, name, length, type, size);
}

static bool context(struct values_asked *asked, struct parser *p)
{
	skip_blanks(p);
	while (p->end > p->at && isspace((unsigned char)p->end[-1]))
		p->end--;
	const char *colon = memchr(p->at, ':', (size_t)(p->end - p->at));
	if (!colon)
		return plain(asked, p);
	size_t length = (size_t)(colon - p->at);
	const char *word = p->at;
	p->at = colon + 1;
	if (is_word(word, length, "out")) {
		p->at_end = true;
		return context(asked, p);
	}
	if (is_word(word, length, "reg")) {
		const char *name = p->at;
		if (!push_register(p))
			return false;
		emit(p, VALUES_PUT, 8, 1);
		return add_value(asked, p, name, (size_t)(p->at - name), VALUES_TYPE_HEX, 8);
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (is_word(word, length, types[i].word))
			return typed(asked, p, &types[i]);
	return fail(p, "no type is called", word, length,
		"; there are int8 to int64, uint8 to uint64, int, long, hex, ptr, float, double, string, ustring, "
		"bytes:SIZE");
}

bool values_ask(struct values_asked *asked, const char *contexts, const struct values_symbols *symbols,
	struct values_wrong *wrong)
{
	const char *from = contexts;

	for (int depth = 0;; contexts++) {
		if (*contexts == '(')
			depth++;
		else if (*contexts == ')')
			depth--;
		if (*contexts && (*contexts != ',' || depth > 0))
			continue;
		struct parser p = parser_of(from, (size_t)(contexts - from), symbols, wrong);
		if (!context(asked, &p))
			return false;
		if (!*contexts)
			return true;
		from = contexts + 1;
	}
}

/* ---- conditions ---- */

/* The word on the stack and this number, compared. */
static void emit_compare(struct parser *p, const char *op, uint64_t number)
{
	bool swap = *op == '>', or_equal = op[1] == '=' && *op != '=' && *op != '!';

	/* a <= b is not b < a; a >= b is not a < b. */
	if (*op == '=' || *op == '!') {
		emit_number(p, number);
		emit(p, VALUES_EQUAL, 0, 0);
		if (*op == '!')
			emit(p, VALUES_NOT, 0, 0);
		return;
	}
	/* a > b: not (a <= b), where a <= b is a < b + 1, unless that is too large a number. */
	if (swap != or_equal) {
		if (number == INT64_MAX) {
			emit(p, VALUES_BYTE, 0, 1);
			emit(p, VALUES_AND, 0, 0);
			emit(p, VALUES_NOT, 0, 0);
		} else {
			emit_number(p, number + 1);
			emit(p, VALUES_LESS, 0, 0);
		}
	} else {
		emit_number(p, number);
		emit(p, VALUES_LESS, 0, 0);
	}
	if (swap)
		emit(p, VALUES_NOT, 0, 0);
}

bool values_ask_if(struct values_asked *asked, const char *condition, const struct values_symbols *symbols,
	struct values_wrong *wrong)
{
	static const char *const ops[] = { "==", "!=", "<=", ">=", "<", ">" };
	const char *end = condition + strlen(condition);

	for (const char *from = condition; from;) {
		const char *next = strstr(from, "&&");
		struct parser p = parser_of(from, (size_t)((next ? next : end) - from), symbols, wrong);
		size_t op = 0;
		uint64_t number;
		if (!expression(&p, 8, false, 0))
			return false;
		while (op < sizeof(ops) / sizeof(*ops) && !take(&p, ops[op]))
			op++;
		if (op == sizeof(ops) / sizeof(*ops) || !take_number(&p, &number))
			return fail(&p, "a condition is as in arg1 > 100, not", from, (size_t)(p.end - from), "");
		skip_blanks(&p);
		if (p.at < p.end)
			return fail(&p, "what is", p.at, (size_t)(p.end - p.at), "behind a condition");
		emit_compare(&p, ops[op], number);
		emit(&p, VALUES_UNLESS, 0, 0);
		if ((p.at_end && !keep(asked, &p)) || !append(p.at_end ? &asked->end_if : &asked->entry_if, &p))
			return false;
		from = next ? next + 2 : NULL;
	}
	return true;
}

/* ---- the whole ---- */

/* Conditions come first: of calls that are left out nothing is read. */
static bool put_before(struct values_program *program, const struct values_program *conditions, size_t more)
{
	if (conditions->size + program->size + more + 1 > sizeof(program->code))
		return false;
	memmove(program->code + conditions->size, program->code, program->size);
	memcpy(program->code, conditions->code, conditions->size);
	program->size += conditions->size;
	return true;
}

bool values_complete(struct values_asked *asked, struct values_wrong *wrong)
{
	struct values_program *entry = &asked->entry, *end = &asked->end;

	if (!put_before(entry, &asked->entry_if, 4ul * asked->keeps) || !put_before(end, &asked->end_if, 0)) {
		*wrong = (struct values_wrong){ "that is too much:", "bytes of code are what there may be", "512" };
		return false;
	}
	for (uint32_t i = 0; i < asked->keeps; i++) {
		const uint8_t code[] = { asked->kept[i].op, asked->kept[i].operand, VALUES_KEEP, (uint8_t)i };
		memcpy(entry->code + entry->size, code, sizeof(code));
		entry->size += sizeof(code);
	}
	entry->code[entry->size++] = VALUES_END;
	if (end->size)
		end->code[end->size++] = VALUES_END;
	return true;
}
