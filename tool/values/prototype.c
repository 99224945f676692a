/* SPDX-License-Identifier: MIT */
#include "tool/values/prototype.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/hash.h"
#include "tool/base/memory.h"
#include "tool/values/token.h"

struct type_name {
	const char *word;
	struct type {
		enum values_type type; /* 0: void, or a structure */
		uint8_t size;
		bool is_void, is_char;
		bool is_whole; /* it can be passed by value */
		const struct prototype_names *names;
	} type;
};

struct prototypes {
	char **word; /* copies of all words that are kept */
	size_t words;
	struct prototype *function;
	size_t functions;
	struct hash by_name;
	struct type_name *type;
	size_t types;
	struct prototype_names **names;
	size_t name_lists;
	const char *libraries; /* of what comes next */
	unsigned texts;
};

struct parser {
	struct prototypes *of;
	struct token t;
	struct prototypes_wrong *wrong;
};

/* ---- words ---- */

/* Always false. */
static bool fail(struct parser *p, const char *before, const char *after)
{
	p->wrong->line = p->t.word_line;
	p->wrong->before = before;
	p->wrong->after = after;
	snprintf(p->wrong->part, sizeof(p->wrong->part), "%.*s", (int)p->t.length, p->t.word);
	return false;
}

static void next(struct parser *p)
{
	token_next(&p->t);
}

static bool is(const struct parser *p, const char *word)
{
	return strlen(word) == p->t.length && !strncmp(p->t.word, word, p->t.length);
}

static bool take(struct parser *p, const char *word)
{
	if (!is(p, word))
		return false;
	next(p);
	return true;
}

static bool expect(struct parser *p, const char *word, const char *message)
{
	return take(p, word) || fail(p, message, "");
}

static bool is_name(const struct parser *p)
{
	return p->t.length && token_letter(*p->t.word) && !isdigit((unsigned char)*p->t.word);
}

/* A copy of the word at hand, which lives as long as the prototypes. */
static const char *take_word(struct parser *p)
{
	struct prototypes *of = p->of;

	of->word = memory_grow(of->word, of->words, sizeof(*of->word));
	const char *word = of->word[of->words++] = memory_text(p->t.word, p->t.length);
	next(p);
	return word;
}

static bool take_number(struct parser *p, int64_t *number)
{
	bool negative = take(p, "-");
	char text[32], *end;

	snprintf(text, sizeof(text), "%.*s", (int)p->t.length, p->t.word);
	*number = (int64_t)strtoull(text, &end, 0);
	if (!p->t.length || !isdigit((unsigned char)*text) || *end)
		return fail(p, "expected a number, not", "");
	*number = negative ? -*number : *number;
	next(p);
	return true;
}

/* ---- attributes ---- */

/* What stands before a declaration or a parameter. */
struct attributes {
	uint8_t marks;
	bool are_flags, is_text, is_address, is_hex, has_fails;
	int64_t fails;
	const char *bytes, *names, *libraries;
};

/* (NAME, NAME), to one word that lives as long as the prototypes; `any` to "". */
static bool libraries(struct parser *p, const char **to)
{
	char list[256] = "";
	size_t n = 0;

	if (!expect(p, "(", "expected a bracket, not"))
		return false;
	do {
		if (!is_name(p) || n + p->t.length + 2 > sizeof(list))
			return fail(p, "expected the name of a library, not", "");
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%.*s ", (int)p->t.length, p->t.word);
		next(p);
	} while (take(p, ","));
	p->of->word = memory_grow(p->of->word, p->of->words, sizeof(*p->of->word));
	*to = p->of->word[p->of->words++] = memory_text(list, strcmp(list, "any ") ? n : 0);
	return expect(p, ")", "expected a bracket, not");
}

static bool attribute(struct parser *p, struct attributes *a)
{
	static const struct {
		const char *word;
		uint8_t mark;
	} marks[] = { { "out", PROTOTYPE_OUT }, { "secret", PROTOTYPE_SECRET }, { "fd", PROTOTYPE_FD },
		{ "octal", PROTOTYPE_OCTAL } };

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (take(p, marks[i].word)) {
			a->marks |= marks[i].mark;
			return true;
		}
	if (take(p, "flags"))
		return a->are_flags = true;
	if (take(p, "text"))
		return a->is_text = true;
	if (take(p, "address"))
		return a->is_address = true;
	if (take(p, "hex"))
		return a->is_hex = true;
	if (take(p, "null"))
		return a->has_fails = true;
	if (take(p, "fails")) {
		a->has_fails = true;
		return expect(p, "(", "fails needs a number in brackets, not") && take_number(p, &a->fails) &&
		       expect(p, ")", "expected a bracket, not");
	}
	if (take(p, "library"))
		return libraries(p, &a->libraries);
	const char **to = is(p, "bytes") ? &a->bytes : is(p, "names") ? &a->names : NULL;
	if (!to)
		return fail(p, "no attribute is called",
			"; there are out, bytes(SIZE), text, address, secret, names(ENUM), hex, octal, fd, flags, "
			"fails(NUMBER), null, library(NAME)");
	next(p);
	if (!expect(p, "(", "expected a bracket, not"))
		return false;
	if (!p->t.length || !token_letter(*p->t.word))
		return fail(p, "expected a name or a number, not", "");
	*to = take_word(p);
	return expect(p, ")", "expected a bracket, not");
}

static bool attributes(struct parser *p, struct attributes *a)
{
	*a = (struct attributes){ 0 };
	while (take(p, "[[")) {
		do {
			if (!attribute(p, a))
				return false;
		} while (take(p, ","));
		if (!expect(p, "]]", "expected ]], not"))
			return false;
	}
	return true;
}

/* ---- types ---- */

static const struct type *find_type(const struct prototypes *of, const char *word, size_t length)
{
	for (size_t i = of->types; i--;)
		if (strlen(of->type[i].word) == length && !strncmp(of->type[i].word, word, length))
			return &of->type[i].type;
	return NULL;
}

static const struct prototype_names *find_names(const struct prototypes *of, const char *word)
{
	for (size_t i = of->name_lists; i--;)
		if (!strcmp(of->names[i]->name, word))
			return of->names[i];
	return NULL;
}

static struct type number(enum values_type type, uint8_t size)
{
	return (struct type){ .type = type, .size = size, .is_whole = true };
}

/* C's own words, in any order. Returns false: the word at hand is none of them. */
struct words {
	unsigned longs;
	bool is_unsigned, is_signed, is_short, is_char, is_double, any;
};

static bool take_type_word(struct parser *p, struct words *w)
{
	if (take(p, "unsigned"))
		return w->any = w->is_unsigned = true;
	if (take(p, "signed"))
		return w->any = w->is_signed = true;
	if (take(p, "short"))
		return w->any = w->is_short = true;
	if (take(p, "char"))
		return w->any = w->is_char = true;
	if (take(p, "double"))
		return w->any = w->is_double = true;
	if (take(p, "int"))
		return w->any = true;
	if (!take(p, "long"))
		return false;
	w->longs++;
	return w->any = true;
}

static void skip_qualifiers(struct parser *p, bool *is_const)
{
	for (;;) {
		if (take(p, "const"))
			*is_const = true;
		else if (!take(p, "volatile") && !take(p, "restrict") && !take(p, "__restrict"))
			return;
	}
}

/* What stands before the stars. */
static bool base_type(struct parser *p, struct type *type, bool *is_const)
{
	struct words w = { 0 };

	*is_const = false;
	skip_qualifiers(p, is_const);
	while (take_type_word(p, &w))
		skip_qualifiers(p, is_const);
	if (w.any) {
		uint8_t size = w.longs ? 8 : w.is_short ? 2 : w.is_char ? 1 : 4;
		*type = w.is_double ? number(VALUES_TYPE_DOUBLE, 8)
				    : number(w.is_unsigned ? VALUES_TYPE_UNSIGNED : VALUES_TYPE_SIGNED, size);
		type->is_char = w.is_char && !w.is_unsigned;
		type->is_whole = !(w.is_double && w.longs); /* long double */
		return true;
	}
	if (take(p, "void")) {
		*type = (struct type){ .is_void = true };
	} else if (take(p, "float")) {
		*type = number(VALUES_TYPE_FLOAT, 4);
	} else if (take(p, "_Bool") || take(p, "bool")) {
		*type = number(VALUES_TYPE_UNSIGNED, 1);
	} else if (is(p, "struct") || is(p, "union")) {
		next(p);
		if (!is_name(p))
			return fail(p, "expected the name of a structure, not", "");
		next(p);
		*type = (struct type){ 0 };
	} else if (take(p, "enum")) {
		*type = number(VALUES_TYPE_UNSIGNED, 4);
		if (!is_name(p))
			return fail(p, "expected the name of an enum, not", "");
		type->names = find_names(p->of, take_word(p));
	} else {
		const struct type *known = find_type(p->of, p->t.word, p->t.length);
		if (!known)
			return fail(p, "no type is called", "");
		*type = *known;
		next(p);
	}
	skip_qualifiers(p, is_const);
	return true;
}

/* ---- values ---- */

/* A type of so many stars, with what its attributes say. */
static bool set_value(struct parser *p, struct prototype_value *value, const struct type *type, unsigned stars,
	bool is_const, const struct attributes *a)
{
	value->marks = a->marks;
	value->bytes = a->bytes;
	value->names = type->names;
	if (a->names && !(value->names = find_names(p->of, a->names)))
		return fail(p, "no enum of that name is before", "");
	if (!stars && !type->is_whole)
		return fail(p, "a structure, or long double, is passed by value before", "");
	if (!stars) {
		value->type = a->is_hex ? VALUES_TYPE_HEX : type->type;
		value->size = type->size;
		return true;
	}
	bool is_text = a->is_text ||
		       (stars == 1 && type->is_char && is_const && !a->bytes && !(a->marks & PROTOTYPE_OUT));
	value->type = is_text && !a->is_address && !(a->marks & PROTOTYPE_SECRET) ? VALUES_TYPE_TEXT
										  : VALUES_TYPE_POINTER;
	value->size = value->type == VALUES_TYPE_TEXT ? 0 : 8;
	if (stars > 1) {
		value->to_type = VALUES_TYPE_POINTER;
		value->to_size = 8;
	} else if (type->is_whole) {
		value->to_type = a->is_hex ? VALUES_TYPE_HEX : type->type;
		value->to_size = type->size;
	}
	if (a->marks & PROTOTYPE_OUT && !a->bytes && !is_text && !value->to_type)
		return fail(p, "what is written there is not known before", "");
	return true;
}

static unsigned take_stars(struct parser *p, bool *last_const)
{
	unsigned stars = 0;

	while (take(p, "*")) {
		stars++;
		skip_qualifiers(p, last_const);
	}
	return stars;
}

/* What is in these brackets does not matter. */
static bool skip_brackets(struct parser *p)
{
	for (unsigned depth = 1; depth; next(p)) {
		if (!p->t.length)
			return fail(p, "a bracket is not closed before", "the end");
		depth += is(p, "(");
		depth -= is(p, ")");
	}
	return true;
}

static bool parameter(struct parser *p, struct prototype_value *value)
{
	struct attributes a;
	struct type type;
	bool is_const, ignored = false;

	*value = (struct prototype_value){ 0 };
	if (!attributes(p, &a) || !base_type(p, &type, &is_const))
		return false;
	unsigned stars = take_stars(p, &ignored);
	/* A pointer to a function. */
	if (take(p, "(")) {
		if (!take_stars(p, &ignored) || !is_name(p))
			return fail(p, "expected a pointer to a function, not", "");
		value->name = take_word(p);
		value->type = VALUES_TYPE_POINTER;
		value->size = 8;
		return expect(p, ")", "expected a bracket, not") && expect(p, "(", "expected a bracket, not") &&
		       skip_brackets(p);
	}
	if (is_name(p))
		value->name = take_word(p);
	if (take(p, "[")) {
		stars++;
		while (p->t.length && !is(p, "]"))
			next(p);
		if (!expect(p, "]", "expected a bracket, not"))
			return false;
	}
	if (!value->name)
		return fail(p, "a parameter has no name before", "");
	return set_value(p, value, &type, stars, is_const, &a);
}

/* ---- declarations ---- */

/* Behind the name. */
static bool parameters(struct parser *p, struct prototype *function)
{
	if (!expect(p, "(", "expected the parameters of a function, not"))
		return false;
	struct parser ahead = *p;
	if (take(&ahead, "void") && take(&ahead, ")")) {
		*p = ahead;
		return true;
	}
	while (!take(p, ")")) {
		if (take(p, "...")) {
			function->more = true;
		} else {
			if (function->parameters == PROTOTYPE_PARAMETERS)
				return fail(p, "a function has more than 16 parameters:", "");
			if (!parameter(p, &function->parameter[function->parameters++]))
				return false;
		}
		if (!is(p, ")") && !expect(p, ",", "expected a comma or a bracket, not"))
			return false;
	}
	return true;
}

static bool function(struct parser *p, const struct attributes *a)
{
	struct prototypes *of = p->of;
	struct prototype f = { .more = false };
	struct type type;
	bool is_const, ignored = false;

	if (!base_type(p, &type, &is_const))
		return false;
	unsigned stars = take_stars(p, &ignored);
	if (!is_name(p))
		return fail(p, "expected the name of a function, not", "");
	f.name = take_word(p);
	if (stars || !type.is_void) {
		f.result.name = "ret";
		if (!set_value(p, &f.result, &type, stars, is_const, a))
			return false;
	}
	f.has_fails = a->has_fails;
	f.fails = a->fails;
	if (!parameters(p, &f) || !expect(p, ";", "expected a semicolon, not"))
		return false;
	uint32_t hash = hash_text(0, f.name);
	uint32_t row = HASH_FIND(i, &of->by_name, hash, !strcmp(of->function[i].name, f.name));
	if (row == HASH_NONE) {
		of->function = memory_grow(of->function, of->functions, sizeof(*of->function));
		memory_hash(&of->by_name, hash, row = (uint32_t)of->functions++);
	}
	f.libraries = of->libraries;
	f.text = of->texts;
	of->function[row] = f;
	return true;
}

static bool enumerators(struct parser *p, struct prototype_names *to)
{
	int64_t value = 0;

	while (!take(p, "}")) {
		if (!is_name(p))
			return fail(p, "expected the name of a value, not", "");
		const char *word = take_word(p);
		if (take(p, "=") && !take_number(p, &value))
			return false;
		to->list = memory_grow(to->list, to->count, sizeof(*to->list));
		to->list[to->count++] = (struct prototype_name){ word, (uint64_t)value++ };
		if (!is(p, "}") && !expect(p, ",", "expected a comma or a brace, not"))
			return false;
	}
	return expect(p, ";", "expected a semicolon, not");
}

/* `enum NAME {`, if that is what comes; else nothing is taken. */
static const char *take_enum(struct parser *p)
{
	struct parser ahead = *p;

	if (!take(&ahead, "enum") || !is_name(&ahead))
		return NULL;
	next(&ahead);
	if (!is(&ahead, "{"))
		return NULL;
	next(p);
	const char *name = take_word(p);
	next(p);
	return name;
}

static bool type_definition(struct parser *p)
{
	struct prototypes *of = p->of;
	struct type type;
	bool is_const, ignored = false;

	if (!base_type(p, &type, &is_const))
		return false;
	if (take_stars(p, &ignored))
		type = number(VALUES_TYPE_POINTER, 8);
	if (!is_name(p))
		return fail(p, "expected the name of a type, not", "");
	of->type = memory_grow(of->type, of->types, sizeof(*of->type));
	of->type[of->types++] = (struct type_name){ take_word(p), type };
	return expect(p, ";", "expected a semicolon, not");
}

static bool declaration(struct parser *p)
{
	struct prototypes *of = p->of;
	struct attributes a;

	if (!attributes(p, &a))
		return false;
	if (a.libraries && take(p, ";")) {
		of->libraries = *a.libraries ? a.libraries : NULL;
		return true;
	}
	if (take(p, "typedef"))
		return type_definition(p);
	const char *name = take_enum(p);
	if (!name)
		return function(p, &a);
	struct prototype_names *names = memory_zeroed(1, sizeof(*names));
	of->names = memory_grow(of->names, of->name_lists, sizeof(*of->names));
	of->names[of->name_lists++] = names;
	names->name = name;
	names->are_flags = a.are_flags;
	return enumerators(p, names);
}

struct prototypes *prototypes_new(void)
{
	return memory_zeroed(1, sizeof(struct prototypes));
}

void prototypes_free(struct prototypes *of)
{
	for (size_t i = 0; i < of->words; i++)
		free(of->word[i]);
	for (size_t i = 0; i < of->name_lists; i++) {
		free(of->names[i]->list);
		free(of->names[i]);
	}
	hash_free(&of->by_name);
	free(of->word);
	free(of->names);
	free(of->type);
	free(of->function);
	free(of);
}

bool prototypes_read(struct prototypes *of, const char *text, struct prototypes_wrong *wrong)
{
	struct parser p = { .of = of, .t = { .at = text, .line = 1 }, .wrong = wrong };

	of->texts++;
	of->libraries = NULL;
	next(&p);
	while (p.t.length)
		if (!declaration(&p))
			return false;
	return true;
}

const struct prototype *prototypes_find(const struct prototypes *of, const char *name)
{
	uint32_t row = HASH_FIND(i, &of->by_name, hash_text(0, name), !strcmp(of->function[i].name, name));

	return row == HASH_NONE ? NULL : &of->function[row];
}

const struct prototype *prototypes_at(const struct prototypes *of, size_t number)
{
	return number < of->functions ? &of->function[number] : NULL;
}

unsigned prototypes_texts(const struct prototypes *of)
{
	return of->texts;
}
