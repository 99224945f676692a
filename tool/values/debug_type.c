/* SPDX-License-Identifier: MIT */
#include "tool/values/debug_type.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define CHAIN	 64   /* types that are made of each other */
#define NESTED	 16   /* structures in structures */
#define ELEMENTS 16   /* of arrays in what registers hold: it has no more bytes */
#define NONE	 UINT64_MAX

/* Classes of eight bytes, in the order in which one is stronger. */
enum class { NO_CLASS, SSE, INTEGER, MEMORY };

static uint64_t constant(Dwarf_Die *of, unsigned name, uint64_t otherwise)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_attr_integrate(of, name, &attribute) && !dwarf_formudata(&attribute, &value) ? value : otherwise;
}

static bool has(Dwarf_Die *of, unsigned name)
{
	Dwarf_Attribute attribute;
	bool flag;

	return dwarf_attr_integrate(of, name, &attribute) && !dwarf_formflag(&attribute, &flag) && flag;
}

/* ---- types ---- */

/* Is it within this namespace? */
static bool is_in(Dwarf_Die *die, const char *name)
{
	Dwarf_Die *scopes = NULL;
	int count = dwarf_getscopes_die(die, &scopes);
	bool found = false;

	for (int i = 1; i < count; i++) {
		const char *scope = dwarf_diename(&scopes[i]);
		found |= dwarf_tag(&scopes[i]) == DW_TAG_namespace && scope && !strcmp(scope, name);
	}
	free(scopes);
	return found;
}

static void structure(struct debug_type *type)
{
	const char *name = dwarf_diename(&type->die);
	static const char string[] = "basic_string<char,";

	type->kind = DEBUG_STRUCT;
	if (!name || strncmp(name, string, sizeof(string) - 1) != 0 || !is_in(&type->die, "std"))
		return;
	type->kind = DEBUG_STRING;
	if (is_in(&type->die, "__cxx11") && (!type->bytes || type->bytes == 32))
		type->string = "stdstring";
	else if (is_in(&type->die, "__1") && (!type->bytes || type->bytes == 24))
		type->string = "cxxstring";
	else if (type->bytes == 8)
		type->string = "oldstring";
	else
		type->kind = DEBUG_STRUCT;
}

static void base(struct debug_type *type)
{
	const char *name = dwarf_diename(&type->die);

	type->kind = DEBUG_NUMBER;
	switch (constant(&type->die, DW_AT_encoding, 0)) {
	case DW_ATE_signed_char:
		type->is_char = type->bytes == 1 && name && !strcmp(name, "char");
		type->type = VALUES_TYPE_SIGNED;
		break;
	case DW_ATE_signed:
		type->type = VALUES_TYPE_SIGNED;
		break;
	case DW_ATE_boolean:
		type->is_bool = true;
		type->type = VALUES_TYPE_UNSIGNED;
		break;
	case DW_ATE_unsigned_char:
		type->is_char = type->bytes == 1 && name && !strcmp(name, "char");
		type->type = VALUES_TYPE_UNSIGNED;
		break;
	case DW_ATE_unsigned:
	case DW_ATE_UTF:
		type->type = VALUES_TYPE_UNSIGNED;
		break;
	case DW_ATE_float:
		type->type = type->bytes == 4 ? VALUES_TYPE_FLOAT : VALUES_TYPE_DOUBLE;
		if (type->bytes != 4 && type->bytes != 8)
			type->kind = DEBUG_OTHER;
		break;
	default:
		type->kind = DEBUG_OTHER;
	}
	if (type->bytes != 1 && type->bytes != 2 && type->bytes != 4 && type->bytes != 8)
		type->kind = DEBUG_OTHER;
}

/* Does an enum have a negative value, or is its type signed? */
static bool is_signed(Dwarf_Die *of)
{
	struct debug_type type;
	Dwarf_Die child;
	Dwarf_Attribute attribute;
	Dwarf_Sword value;

	if (dwarf_hasattr_integrate(of, DW_AT_type)) {
		debug_type_of(of, &type);
		return type.kind == DEBUG_NUMBER && type.type == VALUES_TYPE_SIGNED;
	}
	for (int r = dwarf_child(of, &child); !r; r = dwarf_siblingof(&child, &child))
		if (dwarf_tag(&child) == DW_TAG_enumerator && dwarf_attr(&child, DW_AT_const_value, &attribute) &&
			!dwarf_formsdata(&attribute, &value) && value < 0)
			return true;
	return false;
}

enum stripped { STRIP_TYPE, STRIP_NOTHING, STRIP_UNKNOWN };

/* Has an entry be the type without typedef, const, and the like. NOTHING: of void, as `const void` is. */
static enum stripped strip(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	for (int i = 0; i < CHAIN; i++) {
		switch (dwarf_tag(die)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			break;
		default:
			return STRIP_TYPE;
		}
		if (!dwarf_attr_integrate(die, DW_AT_type, &attribute))
			return STRIP_NOTHING;
		if (!dwarf_formref_die(&attribute, die))
			break;
	}
	return STRIP_UNKNOWN;
}

/*
 * A union of pointers alone, as connect() takes one of kinds of addresses: a pointer, as the first one. Of such ones of
 * the C library gcc tells no members.
 */
static void pointers(struct debug_type *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die member, die, first = type->die;
	bool any = false;

	type->kind = DEBUG_OTHER;
	for (int r = dwarf_child(&type->die, &member); !r; r = dwarf_siblingof(&member, &member)) {
		if (!dwarf_attr_integrate(&member, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, &die) ||
			strip(&die) != STRIP_TYPE || dwarf_tag(&die) != DW_TAG_pointer_type)
			return;
		first = any ? first : die;
		any = true;
	}
	if (type->bytes != 8)
		return;
	type->kind = DEBUG_POINTER;
	type->die = first;
}

static void known(struct debug_type *type)
{
	Dwarf_Word bytes = 0;

	if (!dwarf_aggregate_size(&type->die, &bytes))
		type->bytes = bytes;
	switch (dwarf_tag(&type->die)) {
	case DW_TAG_base_type:
		base(type);
		break;
	case DW_TAG_enumeration_type:
		type->is_enum = true;
		type->kind = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ? DEBUG_NUMBER : DEBUG_OTHER;
		type->type = is_signed(&type->die) ? VALUES_TYPE_SIGNED : VALUES_TYPE_UNSIGNED;
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_unspecified_type:
		type->kind = DEBUG_POINTER;
		type->bytes = 8;
		break;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		type->kind = DEBUG_REFERENCE;
		type->bytes = 8;
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		structure(type);
		break;
	case DW_TAG_array_type:
		type->kind = DEBUG_ARRAY;
		break;
	case DW_TAG_union_type:
		pointers(type);
		break;
	default:
		type->kind = DEBUG_OTHER;
	}
}

void debug_type_of(Dwarf_Die *of, struct debug_type *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die die;

	*type = (struct debug_type){ .kind = DEBUG_NOTHING };
	if (dwarf_attr_integrate(of, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, &die))
		debug_type_is(&die, type);
}

void debug_type_is(Dwarf_Die *die, struct debug_type *type)
{
	*type = (struct debug_type){ .kind = DEBUG_NOTHING, .die = *die };
	switch (strip(&type->die)) {
	case STRIP_TYPE:
		known(type);
		break;
	case STRIP_NOTHING:
		break;
	case STRIP_UNKNOWN:
		type->kind = DEBUG_OTHER;
	}
}

/* ---- passing ---- */

uint64_t debug_member_offset(Dwarf_Die *member)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (has(member, DW_AT_external) || has(member, DW_AT_declaration) ||
		dwarf_hasattr_integrate(member, DW_AT_bit_size))
		return NONE;
	if (!dwarf_attr_integrate(member, DW_AT_data_member_location, &attribute))
		return dwarf_hasattr_integrate(member, DW_AT_data_bit_offset) ? NONE : 0;
	return dwarf_formudata(&attribute, &value) ? NONE : value;
}

/* Merges a class into those of the eight bytes that it touches. */
static void merge(enum class class[2], uint64_t offset, uint64_t bytes, enum class of)
{
	for (uint64_t at = offset / 8; at <= (offset + (bytes ? bytes : 1) - 1) / 8 && at < 2; at++)
		if (class[at] < of)
			class[at] = of;
}

static void classify(const struct debug_type *type, uint64_t offset, enum class class[2], int depth);

static void classify_members(Dwarf_Die *of, uint64_t offset, enum class class[2], int depth)
{
	struct debug_type type;
	Dwarf_Die child;

	for (int r = dwarf_child(of, &child); !r; r = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		if (has(&child, DW_AT_external) || has(&child, DW_AT_declaration))
			continue;
		uint64_t at = debug_member_offset(&child);
		debug_type_of(&child, &type);
		if (dwarf_hasattr_integrate(&child, DW_AT_bit_size)) {
			/* Where it is, in bits, or by the word that it is in. */
			uint64_t bit = constant(&child, DW_AT_data_bit_offset, NONE);
			at = bit == NONE ? constant(&child, DW_AT_data_member_location, 0) : bit / 8;
			merge(class, offset + at, 1, INTEGER);
			continue;
		}
		if (at == NONE)
			class[0] = MEMORY;
		else
			classify(&type, offset + at, class, depth);
	}
}

/* Elements of an array: 0 if it is not known. */
static uint64_t count_of(const struct debug_type *array, struct debug_type *element)
{
	Dwarf_Die die = array->die;

	debug_type_of(&die, element);
	return element->bytes ? array->bytes / element->bytes : 0;
}

static void classify(const struct debug_type *type, uint64_t offset, enum class class[2], int depth)
{
	struct debug_type element;
	Dwarf_Die die = type->die;
	const char *name;
	uint64_t count;

	if (depth > NESTED || offset >= 16) {
		class[0] = MEMORY;
		return;
	}
	switch (type->kind) {
	case DEBUG_NUMBER:
		merge(class, offset, type->bytes,
			type->type == VALUES_TYPE_FLOAT || type->type == VALUES_TYPE_DOUBLE ? SSE : INTEGER);
		/* What is not aligned makes a structure one of memory. */
		if (type->bytes && offset % type->bytes)
			class[0] = MEMORY;
		return;
	case DEBUG_STRUCT:
	case DEBUG_STRING:
		classify_members(&die, offset, class, depth + 1);
		return;
	case DEBUG_ARRAY:
		count = count_of(type, &element);
		for (uint64_t i = 0; i < count && i < ELEMENTS; i++)
			classify(&element, offset + i * element.bytes, class, depth + 1);
		return;
	case DEBUG_OTHER:
		name = dwarf_diename(&die);
		if (dwarf_tag(&die) == DW_TAG_union_type)
			classify_members(&die, offset, class, depth + 1);
		else if (dwarf_tag(&die) != DW_TAG_base_type)
			merge(class, offset, type->bytes, INTEGER); /* a pointer to a member */
		else if (name && strstr(name, "long double"))
			class[0] = MEMORY;
		else
			merge(class, offset, type->bytes,
				constant(&die, DW_AT_encoding, 0) == DW_ATE_signed ||
						constant(&die, DW_AT_encoding, 0) == DW_ATE_unsigned
					? INTEGER
					: SSE);
		return;
	default:
		merge(class, offset, 8, INTEGER);
	}
}

static uint64_t align_of(const struct debug_type *type, int depth)
{
	Dwarf_Die die = type->die, child;
	struct debug_type member;
	uint64_t most = constant(&die, DW_AT_alignment, 0), align;

	if (type->kind == DEBUG_STRUCT || dwarf_tag(&die) == DW_TAG_union_type) {
		for (int r = depth < NESTED ? dwarf_child(&die, &child) : 1; !r; r = dwarf_siblingof(&child, &child)) {
			if (dwarf_tag(&child) != DW_TAG_member && dwarf_tag(&child) != DW_TAG_inheritance)
				continue;
			debug_type_of(&child, &member);
			align = constant(&child, DW_AT_alignment, align_of(&member, depth + 1));
			most = align > most ? align : most;
		}
		return most ? most : 1;
	}
	if (type->kind == DEBUG_ARRAY && depth < NESTED && !has(&die, DW_AT_GNU_vector)) {
		debug_type_of(&die, &member);
		align = align_of(&member, depth + 1);
	} else {
		align = type->bytes;
	}
	return most > align ? most : align;
}

/* Does this function of a class copy or move it, with a first parameter that is a reference to one? */
static bool copies(Dwarf_Die *function, Dwarf_Die *class)
{
	struct debug_type type, to;
	Dwarf_Die child;

	for (int r = dwarf_child(function, &child); !r; r = dwarf_siblingof(&child, &child)) {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter || has(&child, DW_AT_artificial))
			continue;
		debug_type_of(&child, &type);
		if (type.kind != DEBUG_REFERENCE)
			return false;
		Dwarf_Die die = type.die;
		debug_type_of(&die, &to);
		return to.kind == DEBUG_STRUCT && dwarf_dieoffset(&to.die) == dwarf_dieoffset(class);
	}
	return false;
}

/*
 * Has a class a destructor, or a copy or move constructor, that somebody wrote, or virtual functions, or a member or
 * base that has? Not each compiler says how a class is passed.
 */
static bool is_own(Dwarf_Die *class, int depth)
{
	const char *name = dwarf_diename(class), *of;
	size_t length = name ? strcspn(name, "<") : 0;
	struct debug_type type;
	Dwarf_Die child;

	for (int r = depth < NESTED ? dwarf_child(class, &child) : 1; !r; r = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		if (tag != DW_TAG_subprogram && tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		if (constant(&child, DW_AT_virtuality, 0))
			return true;
		if (tag != DW_TAG_subprogram) {
			if (has(&child, DW_AT_external) || has(&child, DW_AT_declaration))
				continue;
			debug_type_of(&child, &type);
			Dwarf_Die inner = type.die;
			if (type.kind == DEBUG_STRING || (type.kind == DEBUG_STRUCT && is_own(&inner, depth + 1)))
				return true;
			continue;
		}
		of = dwarf_diename(&child);
		if (!of || has(&child, DW_AT_artificial) || has(&child, DW_AT_deleted) ||
			constant(&child, DW_AT_defaulted, 0) == DW_DEFAULTED_in_class)
			continue;
		if (*of == '~' || (length && strlen(of) == length && !strncmp(of, name, length) &&
					  copies(&child, class)))
			return true;
	}
	return false;
}

/* A vector of the machine, long double, and what else is passed in one register of 16 bytes or none. */
static bool special(const struct debug_type *type, struct debug_passing *passing)
{
	Dwarf_Die die = type->die;
	const char *name = dwarf_diename(&die);
	uint64_t encoding = constant(&die, DW_AT_encoding, 0);

	if (type->kind == DEBUG_ARRAY && has(&die, DW_AT_GNU_vector)) {
		*passing = (struct debug_passing){ .words = type->bytes > 8 ? 2 : 1, .registers = 1,
			.is_float = { true, true }, .bytes = type->bytes, .align = type->bytes };
		return true;
	}
	if (dwarf_tag(&die) != DW_TAG_base_type || type->kind != DEBUG_OTHER)
		return false;
	if (name && strstr(name, "long double")) {
		passing->in_memory = passing->is_x87 = true;
		passing->align = 16;
		return true;
	}
	if (encoding != DW_ATE_float || type->bytes != 16)
		return false;
	*passing = (struct debug_passing){ .words = 2, .registers = 1, .is_float = { true, true }, .bytes = 16,
		.align = 16 };
	return true;
}

void debug_passing(const struct debug_type *type, struct debug_passing *passing)
{
	enum class class[2] = { NO_CLASS, NO_CLASS };
	Dwarf_Die die = type->die;

	*passing = (struct debug_passing){ .bytes = type->bytes };
	if (type->kind == DEBUG_NOTHING || special(type, passing))
		return;
	passing->align = type->bytes > 8 ? align_of(type, 0) : 8;
	uint64_t said = constant(&die, DW_AT_calling_convention, 0);
	if (said == DW_CC_pass_by_reference || type->kind == DEBUG_STRING ||
		(type->kind == DEBUG_STRUCT && said != DW_CC_pass_by_value && is_own(&die, 0))) {
		*passing = (struct debug_passing){ .by_reference = true, .words = 1, .registers = 1, .bytes = 8,
			.align = 8 };
		return;
	}
	if (type->kind == DEBUG_STRUCT && has(&die, DW_AT_declaration)) {
		passing->unknown = true;
		return;
	}
	if (type->kind == DEBUG_POINTER || type->kind == DEBUG_REFERENCE) {
		passing->words = passing->registers = 1;
		return;
	}
	if (type->bytes <= 16)
		classify(type, 0, class, 0);
	if (type->bytes > 16 || class[0] == MEMORY || class[1] == MEMORY) {
		passing->in_memory = true;
		return;
	}
	if (class[0] == NO_CLASS && class[1] == NO_CLASS) {
		passing->nothing = true;
		return;
	}
	passing->words = type->bytes > 8 ? 2 : 1;
	for (int i = 0; i < passing->words; i++) {
		passing->is_float[i] = class[i] == SSE;
		passing->is_padding[i] = class[i] == NO_CLASS;
		passing->registers += class[i] != NO_CLASS;
	}
}
