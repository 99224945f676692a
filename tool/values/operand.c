/* SPDX-License-Identifier: MIT */
#include "tool/values/operand.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tool/values/parser.h"

/* A register, or a part of one. */
struct part {
	uint8_t number; /* enum values_register */
	uint8_t shift;	/* bits that it begins behind the lowest */
};

struct address {
	int64_t displacement;
	bool has_symbol, relative; /* to rip */
	uint64_t symbol;
	int base, index; /* -1: none */
	unsigned shift;	 /* of the index */
};

static bool is_register(const char *text, size_t length, struct part *part)
{
	/* In the order of enum values_register: rax, rbx, rcx, rdx. */
	static const char letters[] = "abcd";
	static const char *const others[] = { "si", "di", "bp", "sp" };
	char rest[5] = "";

	if (length < 2 || length > 4)
		return false;
	*part = (struct part){ 0 };
	for (uint8_t i = 0; i < VALUES_REGISTERS; i++)
		if (parser_is(text, length, parser_register_word(i))) {
			part->number = i;
			return true;
		}
	/* r8d, r8w, r8b */
	if (*text == 'r' && strchr("dwb", text[length - 1]))
		for (uint8_t i = VALUES_R8; i <= VALUES_R15; i++)
			if (parser_is(text, length - 1, parser_register_word(i))) {
				part->number = i;
				return true;
			}
	memcpy(rest, *text == 'e' ? text + 1 : text, *text == 'e' ? length - 1 : length);
	for (uint8_t i = 0; i < 4; i++) {
		size_t n = strlen(others[i]);
		/* esi, si, sil */
		if (!strncmp(rest, others[i], n) && (!rest[n] || (*text != 'e' && !strcmp(rest + n, "l")))) {
			part->number = (uint8_t)(VALUES_RSI + i);
			return true;
		}
		/* eax, ax, al, ah */
		if (rest[0] == letters[i] && rest[1] && !rest[2] &&
			(rest[1] == 'x' || (*text != 'e' && strchr("lh", rest[1])))) {
			*part = (struct part){ i, rest[1] == 'h' ? 8 : 0 };
			return true;
		}
	}
	return false;
}

/* %xmm0 to %xmm7: -1: it is none of these. */
static int vector_of(const char *text, size_t length)
{
	return length == 4 && !strncmp(text, "xmm", 3) && text[3] >= '0' && text[3] <= '7' ? text[3] - '0' : -1;
}

/* ---- addresses ---- */

/* NUMBER, SYMBOL, and sums of them, up to a bracket or the end. */
static bool take_sum(struct parser *p, struct address *to)
{
	bool minus = false;

	while (p->at < p->end && *p->at != '(') {
		uint64_t number;
		char symbol[256];
		if (*p->at == '+' || *p->at == '-') {
			minus = *p->at++ == '-';
			continue;
		}
		size_t length = parser_word(p);
		if (!length || length >= sizeof(symbol))
			return false;
		if (isdigit((unsigned char)*p->at)) {
			if (!parser_number(p, &number))
				return false;
			to->displacement += minus ? -(int64_t)number : (int64_t)number;
		} else {
			memcpy(symbol, p->at, length);
			symbol[length] = '\0';
			/* sym@GOTPCREL and its like are no addresses of a variable. */
			if (minus || to->has_symbol || strchr(symbol, '@') || !p->known->look ||
				!p->known->look(p->known->context, symbol, &to->symbol))
				return false;
			to->has_symbol = true;
			p->at += length;
		}
		minus = false;
	}
	return true;
}

/* %REGISTER, a whole one. */
static bool take_register(struct parser *p, int *number)
{
	struct part part;

	if (!parser_take(p, "%"))
		return false;
	size_t length = parser_word(p);
	for (uint8_t i = 0; i < VALUES_REGISTERS; i++)
		if (is_register(p->at, length, &part) && parser_is(p->at, length, parser_register_word(i))) {
			*number = i;
			p->at += length;
			return true;
		}
	return false;
}

/* (%BASE,%INDEX,SCALE), behind the first bracket. */
static bool take_registers(struct parser *p, struct address *to)
{
	uint64_t scale = 1;

	if (parser_take(p, "%rip")) {
		to->relative = true;
		return parser_take(p, ")");
	}
	if (!parser_take(p, ",")) {
		if (!take_register(p, &to->base))
			return false;
		if (parser_take(p, ")"))
			return true;
		if (!parser_take(p, ","))
			return false;
	}
	if (!take_register(p, &to->index))
		return false;
	if (parser_take(p, ",") && !parser_number(p, &scale))
		return false;
	if (!scale || scale > 8 || scale & (scale - 1))
		return false;
	to->shift = (unsigned)__builtin_ctzll(scale);
	return parser_take(p, ")");
}

static void emit_address(struct parser *p, const struct address *from)
{
	bool any = false;

	if (from->has_symbol) {
		parser_emit_number(p, from->symbol);
		parser_emit(p, VALUES_VARIABLE, 0, 0);
		any = true;
	}
	for (int i = 0; i < 2; i++) {
		int number = i ? from->index : from->base;
		if (number < 0)
			continue;
		parser_emit(p, VALUES_REGISTER, (uint64_t)number, 1);
		if (i && from->shift)
			parser_emit(p, VALUES_SHIFT_LEFT, from->shift, 1);
		if (any)
			parser_emit(p, VALUES_ADD, 0, 0);
		any = true;
	}
	if (!any || from->displacement) {
		parser_emit_number(p, (uint64_t)from->displacement);
		if (any)
			parser_emit(p, VALUES_ADD, 0, 0);
	}
}

/* An operand in memory. */
static bool take_memory(struct parser *p, uint8_t size)
{
	struct address address = { .base = -1, .index = -1 };

	if (p->at == p->end || !take_sum(p, &address) || (parser_take(p, "(") && !take_registers(p, &address)))
		return false;
	/* A bare distance from an instruction that nobody tells of. */
	if (p->at < p->end || (address.relative && !address.has_symbol))
		return false;
	emit_address(p, &address);
	parser_emit(p, VALUES_READ, size, 1);
	return true;
}

/* ---- operands ---- */

static bool take_operand(struct parser *p, uint8_t size, bool is_float)
{
	struct address address = { .base = -1, .index = -1 };
	struct part part;

	if (parser_take(p, "%")) {
		size_t length = (size_t)(p->end - p->at);
		int vector = vector_of(p->at, length);
		if (vector >= 0)
			parser_emit(p, VALUES_FLOAT, (uint64_t)vector, 1);
		else if (!is_float && is_register(p->at, length, &part))
			parser_emit(p, VALUES_REGISTER, part.number, 1);
		else
			return false;
		if (vector < 0 && part.shift)
			parser_emit(p, VALUES_SHIFT_RIGHT, part.shift, 1);
		return true;
	}
	if (!parser_take(p, "$"))
		return take_memory(p, size);
	if (!take_sum(p, &address) || p->at < p->end)
		return false;
	emit_address(p, &address);
	return true;
}

/* N@, which may be missing. Returns false: it is no size. */
static bool take_size(struct parser *p, struct values_word *is, bool *is_float)
{
	const char *at = memchr(p->at, '@', (size_t)(p->end - p->at)), *from = p->at;

	*is_float = false;
	*is = (struct values_word){ .type = VALUES_TYPE_UNSIGNED, .size = 8 };
	/* sym@GOTPCREL has one, too. */
	if (!at || (!isdigit((unsigned char)*from) && *from != '-'))
		return true;
	if (*from == '-')
		is->type = VALUES_TYPE_SIGNED;
	from += *from == '-';
	if (at == from || !strchr("1248", *from) || (from + 1 != at && (from[1] != 'f' || from + 2 != at)))
		return false;
	is->size = (uint8_t)(*from - '0');
	*is_float = from + 1 != at;
	if (*is_float && is->size < 4)
		return false;
	if (*is_float)
		is->type = is->size == 4 ? VALUES_TYPE_FLOAT : VALUES_TYPE_DOUBLE;
	p->at = at + 1;
	return true;
}

static void read_one(const char *text, size_t length, const struct values_known *known, struct values_operand *to)
{
	struct values_wrong wrong;
	struct parser p = parser_of(text, length, known, &wrong);
	bool is_float;

	*to = (struct values_operand){ .size = 0 };
	if (!take_size(&p, &to->is, &is_float) || !take_operand(&p, to->is.size, is_float) || p.full ||
		p.size > sizeof(to->code))
		return;
	memcpy(to->code, p.code, p.size);
	to->size = p.size;
}

unsigned operands_read(const char *arguments, values_symbol *look, void *context,
	struct values_operand to[OPERANDS_MOST])
{
	const struct values_known known = { .look = look, .context = context };
	unsigned count = 0;

	for (const char *at = arguments; count < OPERANDS_MOST;) {
		size_t length = 0;
		int depth = 0;
		at += strspn(at, " ");
		if (!*at)
			break;
		for (; at[length] && (depth || at[length] != ' '); length++)
			depth += (at[length] == '(') - (at[length] == ')');
		read_one(at, length, &known, &to[count++]);
		at += length;
	}
	return count;
}
