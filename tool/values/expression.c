/* SPDX-License-Identifier: MIT */
#include "tool/values/expression.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "format/chain.h"
#include "tool/values/parser.h"

/* ---- what is asked for ---- */

/* Is it a word that the end finds changed? */
static bool is_of_call(uint8_t op)
{
	return op == VALUES_STACK || op == VALUES_FLOAT || op == VALUES_REGISTER;
}

/* Always false. */
static bool too_much(struct parser *p, const char *before, const char *part, const char *after)
{
	parser_fail(p, before, part, strlen(part), after);
	p->wrong->too_much = true;
	return false;
}

/* Has the end take words of the entry from where that keeps them. Returns false: they are too many. */
static bool keep(struct values_asked *asked, struct parser *p)
{
	for (size_t at = 0; at < p->size; at += 1 + parser_operand(p->code[at])) {
		uint8_t *op = &p->code[at];
		uint32_t i = 0;
		if (!is_of_call(op[0]))
			continue;
		if (op[1] & PARSER_END) {
			op[1] &= (uint8_t)~PARSER_END;
			continue;
		}
		while (i < asked->keeps && (asked->kept[i].op != op[0] || asked->kept[i].operand != op[1]))
			i++;
		if (i == VALUES_KEPT)
			return too_much(p, "more than", "8", "arguments are needed when the call ends");
		asked->kept[i] = (struct values_kept){ op[0], op[1] };
		asked->keeps += i == asked->keeps;
		op[0] = VALUES_KEPT_WORD;
		op[1] = (uint8_t)i;
	}
	return true;
}

bool values_add(struct values_asked *asked, struct values_program *to, struct parser *p)
{
	if (p->at_end && !keep(asked, p))
		return false;
	if (p->full || sizeof(to->code) - to->size < p->size)
		return too_much(p, "that is too much:", "512", "bytes of code are what there may be");
	memcpy(to->code + to->size, p->code, p->size);
	to->size += p->size;
	return true;
}

/* Adds the parser's code, which puts this value, of so many bytes at most. */
static bool add_value(struct values_asked *asked, struct parser *p, const char *name, size_t length,
	enum values_type type, uint8_t size, uint64_t most)
{
	struct values_program *to = p->at_end ? &asked->end : &asked->entry;

	if (to->values == VALUES_MOST)
		return too_much(p, "more than", "32", "values of a call");
	if (to->most + most > VALUES_RECORDED - VALUES_MOST)
		return too_much(p, "that is too much:", "1504", "bytes of a call are recorded");
	struct values_value *value = &to->value[to->values++];
	*value = (struct values_value){ .type = type, .size = size };
	snprintf(value->name, sizeof(value->name), "%.*s", (int)length, name);
	to->most += (uint32_t)most;
	return values_add(asked, to, p);
}

#define ARRAY 256 /* bytes of structures, most */

/* Behind the size of structures: multiplies by it, and, where `?ret` follows, by 1 if that is above 0. */
static bool take_structs(struct parser *size, uint64_t each)
{
	parser_emit_number(size, each);
	parser_emit(size, VALUES_MULTIPLY, 0, 0);
	if (!parser_take(size, "?ret"))
		return true;
	size->word = NULL;
	parser_emit(size, VALUES_BYTE, 0, 1);
	if (!parser_name(size, "ret", 3))
		return false;
	parser_extend(size, size->word);
	parser_emit(size, VALUES_LESS, 0, 0);
	parser_emit(size, VALUES_MULTIPLY, 0, 0);
	return true;
}

/* BYTES*, if that is what comes: 0: it is not. */
static uint64_t take_each(struct parser *size)
{
	uint64_t each = 0;

	if (!parser_number(size, &each) || !each || each > ARRAY || !parser_take(size, "*"))
		return 0;
	return each;
}

/* bytes:SIZE:NAME:..., behind its first colon. Leaves the code of SIZE in *size, or its number in *most. */
static bool take_size(struct parser *p, struct parser *size, bool is_array, uint64_t *most)
{
	const char *colon = memchr(p->at, ':', (size_t)(p->end - p->at));

	if (!colon)
		return parser_fail(p, "bytes needs a size, a name and an address, as in bytes:16:key:arg1, not", p->at,
			(size_t)(p->end - p->at), "");
	*size = parser_of(p->at, (size_t)(colon - p->at), p->known, p->wrong);
	uint64_t each = is_array ? take_each(size) : 1;
	if (!each)
		return parser_fail(p, "array needs bytes and a number, as in array:8*arg2:all:arg1, not", p->at,
			(size_t)(colon - p->at), "");
	const char *from = size->at;
	if (parser_number(size, most) && size->at == size->end) {
		*most *= each;
		if (!*most || *most > (is_array ? ARRAY : VALUES_RECORDED / 2))
			return parser_fail(p, "bytes of size", p->at, (size_t)(colon - p->at),
				"; at most 768 are recorded");
		parser_emit_number(size, *most);
	} else {
		size->at = from;
		*most = is_array ? ARRAY / each * each : VALUES_TEXT;
		if (!parser_expression(size, 8, false))
			return false;
		parser_extend(size, size->word);
		/* Of a negative one, as of a read() that failed, nothing. */
		struct parser once = *size;
		parser_emit(size, VALUES_BYTE, 0, 1);
		parser_append(size, once.code, once.size);
		parser_emit(size, VALUES_LESS, 0, 0);
		parser_emit(size, VALUES_MULTIPLY, 0, 0);
		if (is_array && !take_structs(size, each))
			return false;
	}
	p->at_end |= size->at_end;
	p->at = colon + 1;
	return true;
}

/*
 * The address of a std::string is on the stack of the machine: pushes its text's and its size, in this order, by code
 * that pushes the address again.
 */
static void emit_string(struct parser *p, const struct parser *address, const char *which)
{
	static const uint8_t text[] = { VALUES_READ, 8 }, /* a pointer comes first */
		size[] = { VALUES_BYTE, 8, VALUES_ADD, VALUES_READ, 8 }, /* then its size */
		/* The pointer is to what the size is 24 bytes before. */
		old[] = { VALUES_READ, 8, VALUES_BYTE, (uint8_t)-24, VALUES_ADD, VALUES_READ, 8 },
		/* The lowest bit of the first byte: 1 for a long one, as -1; 0. */
		is_long[] = { VALUES_READ, 1, VALUES_BYTE, 1, VALUES_AND, VALUES_BYTE, (uint8_t)-1, VALUES_MULTIPLY },
		is_short[] = { VALUES_READ, 1, VALUES_BYTE, 1, VALUES_AND, VALUES_BYTE, 1, VALUES_SUBTRACT },
		/* A long one has its size and its pointer behind that word; a short one's text follows that byte. */
		long_text[] = { VALUES_BYTE, 16, VALUES_ADD, VALUES_READ, 8, VALUES_AND },
		short_text[] = { VALUES_BYTE, 1, VALUES_ADD, VALUES_AND, VALUES_OR },
		long_size[] = { VALUES_BYTE, 8, VALUES_ADD, VALUES_READ, 8, VALUES_AND },
		short_size[] = { VALUES_READ, 1, VALUES_SHIFT_RIGHT, 1, VALUES_AND, VALUES_OR };

#define AGAIN parser_append(p, address->code, address->size)
#define CODE(name) parser_append(p, name, sizeof(name))
	if (*which == 's') {
		CODE(text);
		AGAIN;
		CODE(size);
	} else if (*which == 'o') {
		CODE(text);
		AGAIN;
		CODE(old);
	} else {
		CODE(is_long);
		AGAIN;
		CODE(long_text);
		AGAIN;
		CODE(is_short);
		AGAIN;
		CODE(short_text);
		AGAIN;
		CODE(is_long);
		AGAIN;
		CODE(long_size);
		AGAIN;
		CODE(is_short);
		AGAIN;
		CODE(short_size);
	}
#undef AGAIN
#undef CODE
	parser_emit(p, VALUES_PUT_BYTES, VALUES_TEXT, 2);
}

static bool is_string(const struct parser_type *type)
{
	return strstr(type->word, "string") > type->word && strcmp(type->word, "ustring") != 0;
}

static void emit_trust(struct parser *p)
{
	if (p->known && p->known->trusts)
		parser_emit(p, VALUES_TRUST, 0, 0);
}

/* Has the code of a value put it. Returns the bytes that it has at most. */
static uint64_t emit_put(struct parser *p, const struct parser_type *type, const struct parser *size, uint64_t most)
{
	if (is_string(type)) {
		struct parser address = *p;
		emit_string(p, &address, type->word);
		return 2 + VALUES_TEXT;
	}
	if (most) {
		parser_append(p, size->code, size->size);
		emit_trust(p);
		parser_emit(p, VALUES_PUT_BYTES, most, 2);
		return 2 + most;
	}
	if (type->type == VALUES_TYPE_TEXT) {
		emit_trust(p);
		parser_emit(p, VALUES_PUT_TEXT, VALUES_TEXT, 2);
		return 2 + VALUES_TEXT;
	}
	parser_emit(p, VALUES_PUT, type->size, 1);
	return type->size;
}

/* TYPE:NAME:EXPRESSION, behind the first colon. */
static bool typed(struct values_asked *asked, struct parser *p, const struct parser_type *type)
{
	bool inner = !type->size;
	struct parser size = { .size = 0 };
	uint64_t most = 0;

	bool is_array = type->type == VALUES_TYPE_STRUCTS;
	if ((is_array || type->type == VALUES_TYPE_BYTES || !strcmp(type->word, "text")) &&
		!take_size(p, &size, is_array, &most))
		return false;
	const char *name = p->at, *colon = memchr(name, ':', (size_t)(p->end - name));
	if (!colon || colon == name)
		return parser_fail(p, "a type needs a name and an expression, as in int:size:arg2, not", name,
			(size_t)(p->end - name), "");
	p->at = colon + 1;
	/* Text and bytes lie at an address; a bare one is theirs. */
	if (!parser_expression(p, inner ? 8 : type->size, inner))
		return false;
	parser_skip(p);
	if (p->at < p->end)
		return parser_fail(p, "what is", p->at, (size_t)(p->end - p->at), "behind a value");
	most = emit_put(p, type, &size, most);
	return add_value(asked, p, name, (size_t)(colon - name), type->type, type->size, most);
}

static bool every_register(struct values_asked *asked, const struct parser *of)
{
	for (uint8_t i = 0; i < VALUES_REGISTERS; i++) {
		struct parser p = parser_of(of->at, 0, of->known, of->wrong);
		const char *word = parser_register_word(i);
		p.at_end = of->at_end;
		parser_emit(&p, VALUES_REGISTER, i, 1);
		parser_emit(&p, VALUES_PUT, 8, 1);
		if (!add_value(asked, &p, word, strlen(word), VALUES_TYPE_HEX, 8, 8))
			return false;
	}
	return true;
}

/* A word of the call alone: as what it is known to be. */
static void type_of(const struct parser *p, const char *name, size_t length, enum values_type *type, uint8_t *size)
{
	*type = *name == 'f' ? VALUES_TYPE_DOUBLE : VALUES_TYPE_SIGNED;
	*size = 8;
	if (p->word) {
		*type = p->word->size ? p->word->type : VALUES_TYPE_POINTER;
		*size = p->word->size ? p->word->size : 8;
		return;
	}
	if (parser_is(name, length, "errno"))
		*type = VALUES_TYPE_ERRNO;
	if (*type == VALUES_TYPE_ERRNO || parser_is(name, length, "tid") || parser_is(name, length, "cpu") ||
		parser_is(name, length, "calls"))
		*size = 4;
}

/* argN->MEMBER: by that name, and as it is. */
static bool member(struct values_asked *asked, struct parser *p)
{
	const char *name = p->at;

	if (!parser_expression(p, 8, false))
		return false;
	size_t length = (size_t)(p->at - name);
	if (p->at < p->end || !p->word)
		return parser_fail(p, "what is", p->at, (size_t)(p->end - p->at), "behind a value");
	struct values_word is = *p->word;
	bool text = is.type == VALUES_TYPE_TEXT;
	parser_emit(p, text ? VALUES_PUT_TEXT : VALUES_PUT, text ? VALUES_TEXT : is.size, text ? 2 : 1);
	return add_value(asked, p, name, length, is.type, is.size, text ? 2 + VALUES_TEXT : is.size);
}

/* backtrace, backtrace:N. Behind its key, the callers and the word that ends them are recorded, too. */
static bool backtrace(struct values_asked *asked, struct parser *p)
{
	const char *name = p->at;
	const size_t length = strlen("backtrace");
	uint64_t most = CHAIN_DEFAULT;

	p->at += length;
	if (p->at < p->end &&
		(!parser_take(p, ":") || !parser_number(p, &most) || p->at < p->end || !most || most > CHAIN_MOST))
		return parser_fail(p, "backtrace takes a number of callers from 1 to 100, as in backtrace:16, not",
			name, (size_t)(p->end - name), "");
	/* One is enough: that of the first section that asks for it. */
	const struct values_program *to = p->at_end ? &asked->end : &asked->entry;
	for (uint32_t i = 0; i < to->values; i++)
		if (to->value[i].type == VALUES_TYPE_STACK)
			return true;
	parser_emit(p, VALUES_CHAIN, most, 1);
	parser_emit(p, VALUES_PUT, 8, 1);
	return add_value(asked, p, name, length, VALUES_TYPE_STACK, 8, 8 + 8 * (most + 1));
}

size_t values_interval(const char *text, size_t length, uint64_t *bytes)
{
	static const char units[] = "kMG";
	unsigned shift = 0;
	size_t at = 0;

	for (*bytes = 0; at < length && isdigit((unsigned char)text[at]) && *bytes <= VALUES_SAMPLE_MOST; at++)
		*bytes = *bytes * 10 + (uint64_t)(text[at] - '0');
	const char *unit = at < length ? memchr(units, text[at], sizeof(units) - 1) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		at++;
	}
	if (!*bytes || *bytes > VALUES_SAMPLE_MOST >> shift)
		return 0;
	*bytes <<= shift;
	return at;
}

/* sample:BYTES:FUNCTION, behind its first colon. A value, too: the interval of a call that gives a sampled block. */
static bool sample(struct values_asked *asked, struct parser *p, const char *name)
{
	/* own: its object may lack malloc: then it calls another one's, which counts. */
	static const struct {
		const char *word;
		uint8_t kind;
		bool own;
	} functions[] = { { "malloc", VALUES_SAMPLE_MALLOC, false }, { "calloc", VALUES_SAMPLE_CALLOC, false },
		{ "aligned_alloc", VALUES_SAMPLE_ALIGNED_ALLOC, false },
		{ "posix_memalign", VALUES_SAMPLE_POSIX_MEMALIGN, false }, { "free", VALUES_SAMPLE_FREE, false },
		{ "realloc", VALUES_SAMPLE_REALLOC, false }, { "reallocarray", VALUES_SAMPLE_REALLOCARRAY, false },
		{ "new", VALUES_SAMPLE_MALLOC, true }, { "delete", VALUES_SAMPLE_FREE, true } };
	const unsigned count = sizeof(functions) / sizeof(*functions);
	uint64_t bytes;
	unsigned i = 0;
	size_t taken = values_interval(p->at, (size_t)(p->end - p->at), &bytes);

	p->at += taken;
	bool right = taken && parser_take(p, ":");
	while (right && i < count && !parser_is(p->at, (size_t)(p->end - p->at), functions[i].word))
		i++;
	if (!right || i == count)
		return parser_fail(p, "sample takes bytes and what the function does, as in sample:512k:malloc, not",
			name, (size_t)(p->end - name),
			"; it may be malloc, calloc, realloc, reallocarray, aligned_alloc, posix_memalign, free, new, "
			"delete");
	if (p->at_end)
		return parser_fail(p, "a sample is chosen when the call begins, not by", name,
			(size_t)(p->end - name), "");
	for (uint32_t n = 0; n < asked->entry.values; n++)
		if (!strcmp(asked->entry.value[n].name, "sample"))
			return parser_fail(p, "samples are asked for twice:", name, (size_t)(p->end - name), "");
	uint8_t kind = functions[i].kind;
	if (functions[i].own && p->known && !p->known->has_malloc)
		kind = VALUES_SAMPLE_NOTHING;
	else if (p->known && p->known->relays)
		kind |= VALUES_SAMPLE_RELAYS;
	const uint8_t code[] = { VALUES_SAMPLE, kind };
	parser_append(p, code, sizeof(code));
	parser_append(p, (const uint8_t *)&bytes, sizeof(bytes));
	parser_emit(p, VALUES_PUT, 8, 1);
	return add_value(asked, p, "sample", 6, VALUES_TYPE_UNSIGNED, 8, 8);
}

/* Always false: a word that a probe has not. */
static bool no_context_there(struct parser *p, const char *name)
{
	static const char *const those[] = {
		[VALUES_AT_PROBE] = "; there are arg1 to arg6 (the registers), farg1 to farg8, errno, tid, cpu, comm, "
				    "calls, backtrace, regs, reg:NAME, TYPE:NAME:EXPRESSION",
		[VALUES_AT_RETURN] = "; there are retval, ret, ret2, fret, fret2, errno, tid, cpu, comm, calls, "
				     "backtrace, regs, reg:NAME, TYPE:NAME:EXPRESSION",
		[VALUES_AT_USDT] = "; there are args, its own arg1 and further ones, errno, tid, cpu, comm, calls, "
				   "backtrace, regs, reg:NAME, TYPE:NAME:EXPRESSION",
	};

	return parser_fail(p, "this probe has no context", name, (size_t)(p->end - name), those[p->known->at]);
}

/* One that is a word alone. */
static bool plain(struct values_asked *asked, struct parser *p)
{
	const char *name = p->at;
	size_t length = parser_word(p);
	enum values_type type;
	uint8_t size;

	if (length && p->at + length == p->end && parser_is(name, length, "regs"))
		return every_register(asked, p);
	if (length && p->at + length == p->end && parser_is(name, length, "comm")) {
		parser_emit(p, VALUES_PUT_NAME, 0, 0);
		return add_value(asked, p, name, length, VALUES_TYPE_TEXT, 0, 2 + 16);
	}
	if (length && p->at + length == p->end && parser_is(name, length, "backtrace"))
		return backtrace(asked, p);
	if (length && p->at + length < p->end && strchr("-[", p->at[length]))
		return member(asked, p);
	if (!length || p->at + length != p->end || !parser_name(p, name, length))
		return p->known && p->known->at != VALUES_AT_CALL ? no_context_there(p, name) :
			parser_fail(p, "no context is called", name, (size_t)(p->end - name),
			"; there are args, retval, argN, fargN, ret, fret, errno, tid, cpu, comm, calls, backtrace, "
			"sample:BYTES:FUNCTION, regs, reg:NAME, TYPE:NAME:EXPRESSION, out:CONTEXT");
	type_of(p, name, length, &type, &size);
	parser_emit(p, VALUES_PUT, size, 1);
	if (!add_value(asked, p, name, length, type, size, size))
		return false;
	/* At a probe they are values as others are. */
	if (!p->at_end)
		return true;
	if (parser_is(name, length, "ret") || parser_is(name, length, "fret"))
		asked->end.value[asked->end.values - 1].role = VALUES_ROLE_RESULT;
	else if (type == VALUES_TYPE_ERRNO)
		asked->end.value[asked->end.values - 1].role = VALUES_ROLE_ERRNO;
	return true;
}

static bool context(struct values_asked *asked, struct parser *p)
{
	parser_skip(p);
	while (p->end > p->at && isspace((unsigned char)p->end[-1]))
		p->end--;
	const char *colon = memchr(p->at, ':', (size_t)(p->end - p->at));
	if (!colon)
		return plain(asked, p);
	size_t length = (size_t)(colon - p->at);
	const char *word = p->at;
	if (parser_is(word, length, "backtrace"))
		return backtrace(asked, p);
	p->at = colon + 1;
	const bool at_probe = p->known && p->known->at != VALUES_AT_CALL;
	if (at_probe && (parser_is(word, length, "out") || parser_is(word, length, "sample")))
		return parser_fail(p, "this is for calls of functions, not for a probe:", word,
			(size_t)(p->end - word), "");
	if (parser_is(word, length, "out")) {
		p->at_end = true;
		return context(asked, p);
	}
	if (parser_is(word, length, "reg")) {
		const char *name = p->at;
		if (!parser_register(p))
			return false;
		parser_emit(p, VALUES_PUT, 8, 1);
		if (p->at < p->end)
			return parser_fail(p, "what is", p->at, (size_t)(p->end - p->at), "behind a value");
		return add_value(asked, p, name, (size_t)(p->at - name), VALUES_TYPE_HEX, 8, 8);
	}
	if (parser_is(word, length, "sample"))
		return sample(asked, p, word);
	const struct parser_type *type = parser_type(word, length);
	if (type)
		return typed(asked, p, type);
	return parser_fail(p, "no type is called", word, length,
		"; there are int8 to int64, uint8 to uint64, int, long, hex, ptr, float, double, string, ustring, "
		"bytes:SIZE, text:SIZE, stdstring, oldstring, cxxstring");
}

const char *values_first(const char *contexts, size_t *length)
{
	const char *at = contexts;

	for (int depth = 0; *at && (*at != ',' || depth > 0); at++)
		depth += (*at == '(') - (*at == ')');
	*length = (size_t)(at - contexts);
	return *at ? at + 1 : NULL;
}

bool values_ask(struct values_asked *asked, const char *contexts, const struct values_known *known,
	struct values_wrong *wrong)
{
	for (size_t length; contexts;) {
		const char *from = contexts;
		contexts = values_first(from, &length);
		struct parser p = parser_of(from, length, known, wrong);
		if (!context(asked, &p))
			return false;
	}
	return true;
}

bool values_ask_fixed(struct values_asked *asked, const char *name, const struct values_fixed *fixed,
	struct values_wrong *wrong)
{
	struct parser p = parser_of(name, 0, NULL, wrong);

	if (fixed->type == VALUES_TYPE_NONE) {
		parser_emit(&p, VALUES_PUT_NONE, 0, 0);
		return add_value(asked, &p, name, strlen(name), fixed->type, 0, 0);
	}
	parser_emit_number(&p, fixed->number);
	if (fixed->is_address) {
		parser_emit(&p, VALUES_BASE, 0, 0);
		parser_emit(&p, VALUES_ADD, 0, 0);
	}
	const struct parser_type type = { .word = "", .type = fixed->type, .size = fixed->size };
	uint64_t most = emit_put(&p, &type, NULL, 0);
	return add_value(asked, &p, name, strlen(name), fixed->type, fixed->size, most);
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
		*wrong = (struct values_wrong){ "that is too much:", "bytes of code are what there may be", "512", true,
			false };
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
