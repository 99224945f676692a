/* SPDX-License-Identifier: MIT */
#include "tool/values/prototype.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/hash.h"
#include "tool/base/memory.h"
#include "tool/values/declaring.h"

struct type_name {
	const char *word;
	struct type {
		enum values_type type; /* 0: void, or a structure */
		uint8_t size;
		bool is_void, is_char;
		bool is_whole; /* it can be passed by value */
		const struct prototype_names *names;
		const struct prototype_struct *of; /* NULL: its members are not known */
	} type;
};

struct prototypes {
	struct declaring_words words;
	struct prototype *function;
	size_t functions;
	struct hash by_name;
	struct type_name *type;
	size_t types;
	struct prototype_names **names;
	size_t name_lists;
	struct prototype_struct **structs;
	size_t struct_count;
	const char *libraries; /* of what comes next */
	unsigned texts;
};

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

static const struct prototype_struct *find_struct(const struct prototypes *of, const struct declaring *p)
{
	for (size_t i = of->struct_count; i--;)
		if (declaring_is(p, of->structs[i]->name))
			return of->structs[i];
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

static bool take_type_word(struct declaring *p, struct words *w)
{
	if (declaring_take(p, "unsigned"))
		return w->any = w->is_unsigned = true;
	if (declaring_take(p, "signed"))
		return w->any = w->is_signed = true;
	if (declaring_take(p, "short"))
		return w->any = w->is_short = true;
	if (declaring_take(p, "char"))
		return w->any = w->is_char = true;
	if (declaring_take(p, "double"))
		return w->any = w->is_double = true;
	if (declaring_take(p, "int"))
		return w->any = true;
	if (!declaring_take(p, "long"))
		return false;
	w->longs++;
	return w->any = true;
}

static void skip_qualifiers(struct declaring *p, bool *is_const)
{
	for (;;) {
		if (declaring_take(p, "const"))
			*is_const = true;
		else if (!declaring_take(p, "volatile") && !declaring_take(p, "restrict") &&
			 !declaring_take(p, "__restrict"))
			return;
	}
}

/* What stands before the stars. */
static bool base_type(struct declaring *p, struct type *type, bool *is_const)
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
	if (declaring_take(p, "void")) {
		*type = (struct type){ .is_void = true };
	} else if (declaring_take(p, "float")) {
		*type = number(VALUES_TYPE_FLOAT, 4);
	} else if (declaring_take(p, "_Bool") || declaring_take(p, "bool")) {
		*type = number(VALUES_TYPE_UNSIGNED, 1);
	} else if (declaring_is(p, "struct") || declaring_is(p, "union")) {
		declaring_next(p);
		if (!declaring_is_name(p))
			return declaring_fail(p, "expected the name of a structure, not", "");
		*type = (struct type){ .of = find_struct(p->of, p) };
		declaring_next(p);
	} else if (declaring_take(p, "enum")) {
		*type = number(VALUES_TYPE_UNSIGNED, 4);
		if (!declaring_is_name(p))
			return declaring_fail(p, "expected the name of an enum, not", "");
		type->names = find_names(p->of, declaring_word(p));
	} else {
		const struct type *known = find_type(p->of, p->t.word, p->t.length);
		if (!known)
			return declaring_fail(p, "no type is called", "");
		*type = *known;
		declaring_next(p);
	}
	skip_qualifiers(p, is_const);
	return true;
}

/* ---- values ---- */

/* A type of so many stars, with what its attributes say. */
static bool set_value(struct declaring *p, struct prototype_value *value, const struct type *type, unsigned stars,
	bool is_const, const struct declaring_attributes *a)
{
	value->marks = a->marks;
	value->bytes = a->bytes;
	value->names = type->names;
	if (a->names && !(value->names = find_names(p->of, a->names)))
		return declaring_fail(p, "no enum of that name is before", "");
	if (!stars && !type->is_whole)
		return declaring_fail(p, "a structure, or long double, is passed by value before", "");
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
	if (stars == 1 && !a->is_address && !a->bytes)
		value->of = type->of;
	value->array = a->array;
	if (a->array && !value->of)
		return declaring_fail(p, "an array is of structures whose members are told before, not", "");
	if (a->marks & PROTOTYPE_OUT && !a->bytes && !is_text && !value->to_type && !value->of)
		return declaring_fail(p, "what is written there is not known before", "");
	return true;
}

static unsigned take_stars(struct declaring *p, bool *last_const)
{
	unsigned stars = 0;

	while (declaring_take(p, "*")) {
		stars++;
		skip_qualifiers(p, last_const);
	}
	return stars;
}

/* What is in these brackets does not matter. */
static bool skip_brackets(struct declaring *p)
{
	for (unsigned depth = 1; depth; declaring_next(p)) {
		if (!p->t.length)
			return declaring_fail(p, "a bracket is not closed before", "the end");
		depth += declaring_is(p, "(");
		depth -= declaring_is(p, ")");
	}
	return true;
}

static bool parameter(struct declaring *p, struct prototype_value *value, struct declaring_attributes *a)
{
	struct type type;
	bool is_const, ignored = false;

	*value = (struct prototype_value){ 0 };
	if (!declaring_attributes(p, a) || !base_type(p, &type, &is_const))
		return false;
	unsigned stars = take_stars(p, &ignored);
	/* A pointer to a function. */
	if (declaring_take(p, "(")) {
		if (!take_stars(p, &ignored) || !declaring_is_name(p))
			return declaring_fail(p, "expected a pointer to a function, not", "");
		value->name = declaring_word(p);
		value->type = VALUES_TYPE_POINTER;
		value->size = 8;
		return declaring_expect(p, ")", "expected a bracket, not") &&
		       declaring_expect(p, "(", "expected a bracket, not") && skip_brackets(p);
	}
	if (declaring_is_name(p))
		value->name = declaring_word(p);
	if (declaring_take(p, "[")) {
		stars++;
		while (p->t.length && !declaring_is(p, "]"))
			declaring_next(p);
		if (!declaring_expect(p, "]", "expected a bracket, not"))
			return false;
	}
	if (!value->name)
		return declaring_fail(p, "a parameter has no name before", "");
	return set_value(p, value, &type, stars, is_const, a);
}

/* ---- functions ---- */

/* The number of a value in a condition: a number, or one of these names. Returns false: it is none. */
static bool value_of(const struct prototype_names *names, const char *word, int64_t *number)
{
	char *end;

	*number = (int64_t)strtoull(word, &end, 0);
	for (size_t i = 0; *end && names && i < names->count; i++)
		if (!strcmp(names->list[i].word, word)) {
			*number = (int64_t)names->list[i].value;
			return true;
		}
	return !*end;
}

/* Behind the dots: what is passed there, if another parameter says so. */
static bool optional(struct declaring *p, struct prototype *function)
{
	struct declaring_attributes a;
	struct prototype_optional *to = &function->optional[function->optionals];
	uint32_t i = 0;

	if (function->optionals == PROTOTYPE_OPTIONAL)
		return declaring_fail(p, "a function has more than 8 parameters behind the dots:", "");
	if (!parameter(p, &to->value, &a))
		return false;
	while (i < function->parameters && (!a.depends || strcmp(function->parameter[i].name, a.depends) != 0))
		i++;
	if (i == function->parameters)
		return declaring_fail(p, "what is behind the dots needs if(NAME, VALUE), of what is before it:", "");
	const struct prototype_names *names = function->parameter[i].names;
	to->depends = (uint8_t)i;
	to->has_bits = names && names->are_flags;
	to->is_not = a.is_not;
	for (to->values = 0; to->values < a.values; to->values++) {
		if (!value_of(names, a.value[to->values], &to->is[to->values]))
			return declaring_fail(p, "a value of a condition is not known before", "");
		if (a.negative[to->values])
			to->is[to->values] *= -1;
	}
	/* Of one name, they are in one place. */
	const struct prototype_optional *before = function->optionals ? to - 1 : NULL;
	if (!before)
		to->place = (uint8_t)function->parameters;
	else
		to->place = (uint8_t)(before->place + (strcmp(before->value.name, to->value.name) != 0));
	function->optionals++;
	return true;
}

/* Behind the name. */
static bool parameters(struct declaring *p, struct prototype *function)
{
	struct declaring_attributes a;

	if (!declaring_expect(p, "(", "expected the parameters of a function, not"))
		return false;
	struct declaring ahead = *p;
	if (declaring_take(&ahead, "void") && declaring_take(&ahead, ")")) {
		*p = ahead;
		return true;
	}
	while (!declaring_take(p, ")")) {
		if (declaring_take(p, "...")) {
			function->more = true;
		} else if (function->more) {
			if (!optional(p, function))
				return false;
		} else {
			if (function->parameters == PROTOTYPE_PARAMETERS)
				return declaring_fail(p, "a function has more than 16 parameters:", "");
			if (!parameter(p, &function->parameter[function->parameters++], &a))
				return false;
		}
		if (!declaring_is(p, ")") && !declaring_expect(p, ",", "expected a comma or a bracket, not"))
			return false;
	}
	return true;
}

static bool function(struct declaring *p, const struct declaring_attributes *a)
{
	struct prototypes *of = p->of;
	struct prototype f = { .more = false };
	struct type type;
	bool is_const, ignored = false;

	if (!base_type(p, &type, &is_const))
		return false;
	unsigned stars = take_stars(p, &ignored);
	if (!declaring_is_name(p))
		return declaring_fail(p, "expected the name of a function, not", "");
	f.name = declaring_word(p);
	if (stars || !type.is_void) {
		f.result.name = "ret";
		if (!set_value(p, &f.result, &type, stars, is_const, a))
			return false;
	}
	f.has_fails = a->has_fails;
	f.fails = a->fails;
	if (!parameters(p, &f) || !declaring_expect(p, ";", "expected a semicolon, not"))
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

static bool enumerators(struct declaring *p, struct prototype_names *to)
{
	int64_t value = 0;

	while (!declaring_take(p, "}")) {
		if (!declaring_is_name(p))
			return declaring_fail(p, "expected the name of a value, not", "");
		const char *word = declaring_word(p);
		struct declaring_attributes a;
		if (!declaring_attributes(p, &a) || (declaring_take(p, "=") && !declaring_number(p, &value)))
			return false;
		to->list = memory_grow(to->list, to->count, sizeof(*to->list));
		to->list[to->count++] = (struct prototype_name){ word, (uint64_t)value++, (uint64_t)a.mask };
		if (!declaring_is(p, "}") && !declaring_expect(p, ",", "expected a comma or a brace, not"))
			return false;
	}
	return declaring_expect(p, ";", "expected a semicolon, not");
}

/* ---- structures ---- */

static bool member(struct declaring *p, struct prototype_struct *to, const char *within, bool is_packed, uint16_t *at)
{
	struct prototype_value value;
	struct declaring_attributes a;

	if (to->members == PROTOTYPE_MEMBERS)
		return declaring_fail(p, "a structure has more than 16 members:", "");
	if (!parameter(p, &value, &a) || !declaring_expect(p, ";", "expected a semicolon, not"))
		return false;
	/* What a pointer points to is not read: it may be gone. */
	if (value.type == VALUES_TYPE_TEXT || !value.size) {
		value.type = VALUES_TYPE_POINTER;
		value.size = 8;
	}
	uint16_t align = is_packed ? 1 : value.size;
	*at = (uint16_t)((*at + align - 1) / align * align);
	to->align = align > to->align ? align : to->align;
	char *name = within ? memory_format("%s.%s", within, value.name) : NULL;
	to->member[to->members++] = (struct prototype_member){ .name = name ? declaring_keep(p, name) : value.name,
		.type = value.type, .size = value.size, .marks = value.marks, .offset = *at, .names = value.names };
	*at = (uint16_t)(*at + value.size);
	free(name);
	return true;
}

/* `union { ... } NAME;`: the name comes last, so what is between is read twice. */
static bool union_members(struct declaring *p, struct prototype_struct *to, bool is_packed, uint16_t *at)
{
	struct prototype_struct alone = { .name = "" };
	struct declaring ahead = *p;
	uint16_t size = 0, place, end;

	while (!declaring_is(&ahead, "}")) {
		place = 0;
		if (!member(&ahead, &alone, NULL, is_packed, &place))
			return false;
		size = place > size ? place : size;
	}
	declaring_next(&ahead);
	if (!declaring_is_name(&ahead))
		return declaring_fail(&ahead, "expected the name of a union, not", "");
	const char *name = declaring_word(&ahead);
	uint16_t align = alone.align ? alone.align : 1;
	*at = (uint16_t)((*at + align - 1) / align * align);
	while (!declaring_is(p, "}")) {
		end = *at;
		if (!member(p, to, name, is_packed, &end))
			return false;
	}
	*p = ahead;
	*at = (uint16_t)(*at + size);
	return declaring_expect(p, ";", "expected a semicolon, not");
}

/* Behind `struct NAME {`. */
static bool structure(struct declaring *p, struct prototype_struct *to, bool is_packed)
{
	uint16_t at = 0;

	to->align = 1;
	while (!declaring_take(p, "}")) {
		struct declaring ahead = *p;
		bool is_union = declaring_take(&ahead, "union") && declaring_take(&ahead, "{");
		if (is_union)
			*p = ahead;
		if (is_union ? !union_members(p, to, is_packed, &at) : !member(p, to, NULL, is_packed, &at))
			return false;
	}
	to->size = (uint16_t)((at + to->align - 1) / to->align * to->align);
	return to->size ? declaring_expect(p, ";", "expected a semicolon, not")
			: declaring_fail(p, "a structure has no members before", "");
}

/* ---- declarations ---- */

/* `enum NAME {`, or `struct NAME {`, if that is what comes; else nothing is taken. */
static const char *take_body(struct declaring *p, const char *what)
{
	struct declaring ahead = *p;

	if (!declaring_take(&ahead, what) || !declaring_is_name(&ahead))
		return NULL;
	declaring_next(&ahead);
	if (!declaring_is(&ahead, "{"))
		return NULL;
	declaring_next(p);
	const char *name = declaring_word(p);
	declaring_next(p);
	return name;
}

static bool type_definition(struct declaring *p)
{
	struct prototypes *of = p->of;
	struct type type;
	bool is_const, ignored = false;

	if (!base_type(p, &type, &is_const))
		return false;
	if (take_stars(p, &ignored))
		type = number(VALUES_TYPE_POINTER, 8);
	if (!declaring_is_name(p))
		return declaring_fail(p, "expected the name of a type, not", "");
	of->type = memory_grow(of->type, of->types, sizeof(*of->type));
	of->type[of->types++] = (struct type_name){ declaring_word(p), type };
	return declaring_expect(p, ";", "expected a semicolon, not");
}

static bool declaration(struct declaring *p)
{
	struct prototypes *of = p->of;
	struct declaring_attributes a;

	if (!declaring_attributes(p, &a))
		return false;
	if (a.libraries && declaring_take(p, ";")) {
		of->libraries = *a.libraries ? a.libraries : NULL;
		return true;
	}
	if (declaring_take(p, "typedef"))
		return type_definition(p);
	const char *name = take_body(p, "struct");
	if (name) {
		struct prototype_struct *made = memory_zeroed(1, sizeof(*made));
		of->structs = memory_grow(of->structs, of->struct_count, sizeof(*of->structs));
		of->structs[of->struct_count++] = made;
		made->name = name;
		return structure(p, made, a.is_packed);
	}
	name = take_body(p, "enum");
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
	for (size_t i = 0; i < of->words.words; i++)
		free(of->words.word[i]);
	for (size_t i = 0; i < of->name_lists; i++) {
		free(of->names[i]->list);
		free(of->names[i]);
	}
	for (size_t i = 0; i < of->struct_count; i++)
		free(of->structs[i]);
	free(of->structs);
	hash_free(&of->by_name);
	free(of->words.word);
	free(of->names);
	free(of->type);
	free(of->function);
	free(of);
}

bool prototypes_read(struct prototypes *of, const char *text, struct prototypes_wrong *wrong)
{
	struct declaring p = { .of = of, .words = &of->words, .t = { .at = text, .line = 1 }, .wrong = wrong };

	of->texts++;
	of->libraries = NULL;
	declaring_next(&p);
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
