/* SPDX-License-Identifier: MIT */
#include "tool/values/debug_members.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

#define NESTED 16 /* structures without a name in structures */
#define WORDS_MOST 512 /* of an enum */

struct adding {
	struct contexts_list *list;
	struct debug_names *names;
	const struct contexts_wish *wish;
	uint8_t role, place, marks;
};

/* ---- enums ---- */

/* Are these names of bits: three of single ones, and no other but of several of these? */
static bool are_flags(const struct prototype_names *names)
{
	uint64_t bits = 0;
	unsigned single = 0;

	for (size_t i = 0; i < names->count; i++)
		if (names->list[i].value && !(names->list[i].value & (names->list[i].value - 1)) &&
			!(bits & names->list[i].value)) {
			bits |= names->list[i].value;
			single++;
		}
	for (size_t i = 0; i < names->count; i++)
		if (names->list[i].value & ~bits)
			return false;
	/* 1, 2 and 4 are three, but so are they in an enum that has a 3: then this has a name of its own, too. */
	return single > 2;
}

static void read_enum(struct prototype_names *names, Dwarf_Die *die, const struct debug_type *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die child;
	Dwarf_Sword value;
	uint64_t all = type->bytes < 8 ? (1ull << 8 * type->bytes) - 1 : UINT64_MAX;

	for (int r = dwarf_child(die, &child); !r; r = dwarf_siblingof(&child, &child)) {
		const char *word = dwarf_tag(&child) == DW_TAG_enumerator ? dwarf_diename(&child) : NULL;
		if (!word || names->count == WORDS_MOST || !dwarf_attr(&child, DW_AT_const_value, &attribute) ||
			dwarf_formsdata(&attribute, &value))
			continue;
		names->list = memory_grow(names->list, names->count, sizeof(*names->list));
		/* Forms of DWARF may be shorter than the type, and have no sign. */
		names->list[names->count++] = (struct prototype_name){ .word = word,
			.value = (uint64_t)value & (type->type == VALUES_TYPE_SIGNED ? UINT64_MAX : all) };
	}
	names->are_flags = are_flags(names);
}

static const struct prototype_names *names_of(struct debug_names *names, const struct debug_type *type)
{
	static const struct prototype_name truth[] = { { .word = "false" }, { "true", 1, 0 } };
	static const struct prototype_names bools = { .list = (struct prototype_name *)(uintptr_t)truth, .count = 2 };
	Dwarf_Die die = type->die;
	Dwarf_Off at = type->is_enum ? dwarf_dieoffset(&die) : 0;

	if (!type->is_enum)
		return type->is_bool ? &bools : NULL;
	for (size_t i = names->count; i--;)
		if (names->die[i] == at)
			return names->list[i];
	names->list = memory_grow(names->list, names->count, sizeof(*names->list));
	names->die = memory_grow(names->die, names->count, sizeof(*names->die));
	names->die[names->count] = at;
	names->list[names->count] = memory_zeroed(1, sizeof(**names->list));
	read_enum(names->list[names->count], &die, type);
	return names->list[names->count++];
}

void debug_names_free(struct debug_names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		free(names->list[i]->list);
		free(names->list[i]);
	}
	free(names->list);
	free(names->die);
	*names = (struct debug_names){ 0 };
}

/* ---- values ---- */

static void add(struct adding *a, const char *name, const char *type, char *at, const struct prototype_names *names)
{
	uint8_t marks = a->marks | (names && names->are_flags ? VALUES_MARK_FLAGS : 0);

	if (!strpbrk(name, ":,()"))
		contexts_add(a->list, memory_format("%s:%s:%s", type, name, at), a->role, a->place, marks, names);
	free(at);
}

/* The expression for a word, or the memory, that is so far behind the beginning; NULL: there is none. To be freed. */
static char *at(const struct debug_place *place, uint64_t offset)
{
	char stack[16];
	const char *word = stack;

	if (place->address)
		return memory_format("+%" PRIu64 "(%s)", offset, place->address);
	if (place->stack) {
		if (place->stack + offset / 8 > 64)
			return NULL;
		snprintf(stack, sizeof(stack), "arg%u", place->stack + (unsigned)(offset / 8));
	} else {
		word = offset < 16 ? place->word[offset / 8] : "";
	}
	if (!*word)
		return NULL;
	return offset % 8 ? memory_format("%s>>%" PRIu64, word, offset % 8 * 8) : memory_format("%s", word);
}

static void add_value(struct adding *a, const char *name, const struct debug_type *type,
	const struct debug_place *place, uint64_t offset, uint32_t depth, int nested);

static bool is_text(const struct debug_type *type)
{
	struct debug_type to;
	Dwarf_Die die = type->die;

	debug_type_of(&die, &to);
	return type->kind == DEBUG_POINTER && to.is_char;
}

static void add_members(struct adding *a, const char *name, const char *between, Dwarf_Die *of,
	const struct debug_place *place, uint64_t offset, uint32_t depth, int nested)
{
	struct debug_type type;
	Dwarf_Die child;

	for (int r = dwarf_child(of, &child); !r && nested < NESTED; r = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		uint64_t at_member = tag == DW_TAG_member || tag == DW_TAG_inheritance ? debug_member_offset(&child)
										       : UINT64_MAX;
		if (at_member == UINT64_MAX)
			continue;
		const char *own = tag == DW_TAG_member ? dwarf_diename(&child) : NULL;
		debug_type_of(&child, &type);
		if (!own) {
			/* What it inherits, and structures without a name, have members of its own. */
			Dwarf_Die inner = type.die;
			if (type.kind == DEBUG_STRUCT)
				add_members(a, name, between, &inner, place, offset + at_member, depth, nested + 1);
			continue;
		}
		char *whole = memory_format("%s%s%s", name, between, own);
		bool is_pointer = type.kind == DEBUG_POINTER || type.kind == DEBUG_REFERENCE;
		if (!contexts_secret(a->wish, own) || (is_pointer && !is_text(&type)))
			add_value(a, whole, &type, place, offset + at_member, depth - 1, nested + 1);
		free(whole);
	}
}

/* A std::string_view: its text. Returns false: it is another structure. */
static bool add_view(struct adding *a, const char *name, Dwarf_Die *of, const struct debug_place *place,
	uint64_t offset)
{
	static const char view[] = "basic_string_view<char,";
	const char *of_name = dwarf_diename(of);
	char *text = NULL, *size = NULL;
	struct debug_type type;
	Dwarf_Die child;

	if (!of_name || strncmp(of_name, view, sizeof(view) - 1) != 0)
		return false;
	for (int r = dwarf_child(of, &child); !r; r = dwarf_siblingof(&child, &child)) {
		uint64_t member = dwarf_tag(&child) == DW_TAG_member ? debug_member_offset(&child) : UINT64_MAX;
		debug_type_of(&child, &type);
		char **to = is_text(&type) ? &text : type.kind == DEBUG_NUMBER && type.bytes == 8 ? &size : NULL;
		if (member != UINT64_MAX && to && !*to)
			*to = at(place, offset + member);
	}
	bool is = text && size;
	if (is) {
		char *word = memory_format("text:%s", size);
		add(a, name, word, text, NULL);
		free(word);
	} else {
		free(text);
	}
	free(size);
	return is;
}

/* What a reference refers to, at an address; also what a pointer points to. */
static void add_at(struct adding *a, const char *name, const char *between, const struct debug_type *to, char *address,
	uint32_t depth, int nested)
{
	struct debug_place place = { .address = address };
	Dwarf_Die die = to->die;

	if (to->kind == DEBUG_STRUCT && !add_view(a, name, &die, &place, 0))
		add_members(a, name, between, &die, &place, 0, depth, nested + 1);
	else if (to->kind != DEBUG_STRUCT)
		add_value(a, name, to, &place, 0, depth, nested + 1);
	free(address);
}

static void add_reference(struct adding *a, const char *name, const struct debug_type *type, char *address,
	uint32_t depth, int nested)
{
	struct debug_type to;
	Dwarf_Die die = type->die;

	debug_type_of(&die, &to);
	bool shown = to.kind == DEBUG_NUMBER || to.kind == DEBUG_POINTER || to.kind == DEBUG_STRING;
	if (shown || (to.kind == DEBUG_STRUCT && depth > 1))
		add_at(a, name, ".", &to, address, depth, nested);
	else
		add(a, name, "ptr", address, NULL);
}

static void add_pointer(struct adding *a, const char *name, const struct debug_type *type, char *at_pointer,
	uint32_t depth, int nested)
{
	struct debug_type to;
	Dwarf_Die die = type->die;

	debug_type_of(&die, &to);
	add(a, name, to.is_char ? "string" : "ptr", memory_format("%s", at_pointer), NULL);
	if (to.kind == DEBUG_STRUCT && depth > 1)
		add_at(a, name, "->", &to, memory_format("%s", at_pointer), depth - 1, nested);
	free(at_pointer);
}

static void add_value(struct adding *a, const char *name, const struct debug_type *type,
	const struct debug_place *place, uint64_t offset, uint32_t depth, int nested)
{
	struct debug_type element;
	Dwarf_Die die = type->die;
	char *from = nested < NESTED ? at(place, offset) : NULL;

	if (!from)
		return;
	switch (type->kind) {
	case DEBUG_NUMBER:
		add(a, name, contexts_type(type->type, (uint8_t)type->bytes), from, names_of(a->names, type));
		return;
	case DEBUG_POINTER:
		add_pointer(a, name, type, from, depth, nested);
		return;
	case DEBUG_REFERENCE:
		add_reference(a, name, type, from, depth, nested);
		return;
	case DEBUG_STRING:
		if (place->address)
			add(a, name, type->string, memory_format("&%" PRIu64 "(%s)", offset, place->address), NULL);
		break;
	case DEBUG_STRUCT:
		if (!add_view(a, name, &die, place, offset) && depth)
			add_members(a, name, ".", &die, place, offset, depth, nested);
		break;
	case DEBUG_ARRAY:
		debug_type_of(&die, &element);
		if (element.is_char && place->address)
			add(a, name, "string", memory_format("&%" PRIu64 "(%s)", offset, place->address), NULL);
		break;
	default:
		break;
	}
	free(from);
}

void debug_members_add(struct contexts_list *list, struct debug_names *names, const struct contexts_wish *wish,
	const struct debug_value *value, const struct debug_type *type, const struct debug_place *place,
	uint32_t depth)
{
	struct adding a = { list, names, wish, value->role, value->place, value->marks };

	add_value(&a, value->name, type, place, 0, depth, 0);
}

void debug_members_fix(struct contexts_list *list, struct debug_names *names, const struct debug_value *value,
	const struct debug_type *type, struct values_fixed *fixed)
{
	bool is_number = type->kind == DEBUG_NUMBER;
	const struct prototype_names *words = is_number ? names_of(names, type) : NULL;

	if (fixed->type != VALUES_TYPE_NONE) {
		fixed->type = is_number ? type->type : is_text(type) ? VALUES_TYPE_TEXT : VALUES_TYPE_POINTER;
		fixed->size = (uint8_t)(is_number ? type->bytes : fixed->type == VALUES_TYPE_TEXT ? 0 : 8);
	}
	contexts_fix(list, value->name, value->place,
		(uint8_t)(value->marks | (words && words->are_flags ? VALUES_MARK_FLAGS : 0)), words, fixed);
}
