/* SPDX-License-Identifier: MIT */
#include "tool/values/debug_info.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/values/contexts.h"
#include "tool/values/debug_functions.h"
#include "tool/values/debug_members.h"
#include "tool/values/debug_path.h"
#include "tool/values/debug_type.h"

#define REGISTERS  6 /* of arguments */
#define FLOATS	   8
#define PARAMETERS 64

struct debug_info {
	struct debug_functions functions;
	uint64_t delta; /* from an address of DWARF to that of the file */
	struct debug_names names;
};

/* What registers and stack hold so far. */
struct passed {
	unsigned words, floats, stack;
	bool unknown; /* from here on nobody knows */
};

/* A function that is described. */
struct describing {
	struct debug_info *info;
	const struct contexts_wish *wish;
	struct contexts_list *list;
	Dwarf_Die function;
	Dwarf_Addr address;
	bool is_changed; /* a compiler may have changed what is passed */
	bool is_moved;	 /* it has: a parameter is not where the ABI has it */
	bool is_looking; /* for that; nothing is added */
	struct passed passed;
};

struct debug_info *debug_info_new(Dwfl_Module *module)
{
	struct debug_info *info = memory_zeroed(1, sizeof(*info));
	Dwarf_Addr bias = 0;
	GElf_Addr of_file = 0;

	if (!module || !dwfl_module_getelf(module, &of_file))
		return info;
	info->functions.dwarf = dwfl_module_getdwarf(module, &bias);
	info->delta = bias - of_file;
	return info;
}

void debug_info_free(struct debug_info *info)
{
	debug_functions_free(&info->functions);
	debug_names_free(&info->names);
	free(info);
}

Dwarf *debug_info_dwarf(struct debug_info *info, uint64_t *delta)
{
	*delta = info->delta;
	return info->functions.dwarf;
}

/* ---- where a parameter is ---- */

enum found {
	FOUND_NOTHING, /* nowhere is told */
	FOUND_WORD,
	FOUND_FRAME,	 /* it will be in memory, but is not yet */
	FOUND_FIXED,	 /* it is a constant */
	FOUND_ELSEWHERE, /* in no place: it was taken apart, or must be computed */
};

static bool set_register(unsigned number, char word[12])
{
	static const char *const names[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10",
		"r11", "r12", "r13", "r14", "r15" };

	if (number < sizeof(names) / sizeof(*names)) {
		/* Those of arguments by the names that people know. */
		static const char *const arguments[] = { "rdi", "rsi", "rdx", "rcx", "r8", "r9" };
		for (int i = 0; i < REGISTERS; i++)
			if (!strcmp(names[number], arguments[i]))
				return snprintf(word, 12, "arg%d", i + 1) > 0;
		return snprintf(word, 12, "%%%s", names[number]) > 0;
	}
	if (number < 17 || number >= 17 + FLOATS)
		return false;
	return snprintf(word, 12, "farg%u", number - 17 + 1) > 0;
}

static bool set_stack(int64_t slot, char word[12])
{
	if (slot < 0 || slot + REGISTERS + 1 > PARAMETERS)
		return false;
	return snprintf(word, 12, "arg%d", (int)slot + REGISTERS + 1) > 0;
}

/* What lies so far behind what the function calls its frame. */
static enum found in_frame(const struct describing *d, int64_t offset, char word[12])
{
	Dwarf_Die function = d->function;
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr_integrate(&function, DW_AT_frame_base, &attribute) ||
		dwarf_getlocation_addr(&attribute, d->address, &ops, &count, 1) != 1 || count != 1)
		return FOUND_FRAME;
	if (ops->atom == DW_OP_call_frame_cfa && !(offset % 8) && set_stack(offset / 8, word))
		return FOUND_WORD;
	/* rbp, once it is set: above it are what it was, and the return address. */
	if (ops->atom == DW_OP_reg6 && offset >= 16 && !(offset % 8) && set_stack(offset / 8 - 2, word))
		return FOUND_WORD;
	return FOUND_FRAME;
}

/* The bytes of a constant, as a number. */
static enum found take_block(const Dwarf_Block *block, struct values_fixed *fixed)
{
	if (!block->length || block->length > sizeof(fixed->number))
		return FOUND_ELSEWHERE;
	memcpy(&fixed->number, block->data, block->length);
	return FOUND_FIXED;
}

/* DW_AT_const_value: its form may be shorter than the type, and then has the type's sign. */
static enum found constant(Dwarf_Attribute *attribute, const struct debug_type *type, struct values_fixed *fixed)
{
	Dwarf_Block block;
	Dwarf_Sword with_sign;
	Dwarf_Word without;

	if (!dwarf_formblock(attribute, &block))
		return take_block(&block, fixed);
	bool is_signed = type->kind == DEBUG_NUMBER && type->type == VALUES_TYPE_SIGNED;
	if (is_signed || dwarf_whatform(attribute) == DW_FORM_sdata ? dwarf_formsdata(attribute, &with_sign)
								    : dwarf_formudata(attribute, &without))
		return FOUND_ELSEWHERE;
	fixed->number = is_signed || dwarf_whatform(attribute) == DW_FORM_sdata ? (uint64_t)with_sign : without;
	return FOUND_FIXED;
}

/* A location that is a value and no place. */
static enum found computed(const struct describing *d, Dwarf_Attribute *attribute, const Dwarf_Op *ops, size_t count,
	struct values_fixed *fixed)
{
	Dwarf_Block block;

	/* A pointer to what is known, but nowhere; a parameter that is not passed, though callers know of it. */
	if (ops->atom == DW_OP_implicit_pointer || ops->atom == DW_OP_GNU_implicit_pointer ||
		ops->atom == DW_OP_GNU_parameter_ref)
		return FOUND_NOTHING;
	if (ops->atom == DW_OP_implicit_value && count == 1)
		return dwarf_getlocation_implicit_value(attribute, ops, &block) ? FOUND_ELSEWHERE
										 : take_block(&block, fixed);
	if (count != 2 || ops[1].atom != DW_OP_stack_value)
		return FOUND_ELSEWHERE;
	if (ops->atom >= DW_OP_lit0 && ops->atom <= DW_OP_lit31)
		fixed->number = ops->atom - DW_OP_lit0;
	else if (ops->atom >= DW_OP_const1u && ops->atom <= DW_OP_consts)
		fixed->number = ops->number;
	else if (ops->atom == DW_OP_addr)
		fixed->number = ops->number + d->info->delta;
	else
		return FOUND_ELSEWHERE;
	fixed->is_address = ops->atom == DW_OP_addr;
	return FOUND_FIXED;
}

static enum found find(const struct describing *d, Dwarf_Die *parameter, const struct debug_type *type, char word[12],
	struct values_fixed *fixed)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	*fixed = (struct values_fixed){ .number = 0 };
	if (!dwarf_attr(parameter, DW_AT_location, &attribute))
		return dwarf_attr(parameter, DW_AT_const_value, &attribute) ? constant(&attribute, type, fixed)
									     : FOUND_NOTHING;
	if (dwarf_getlocation_addr(&attribute, d->address, &ops, &count, 1) != 1 || !count)
		return FOUND_NOTHING;
	if (count == 1 && ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31)
		return set_register(ops->atom - DW_OP_reg0, word) ? FOUND_WORD : FOUND_ELSEWHERE;
	if (count == 1 && ops->atom == DW_OP_regx)
		return set_register((unsigned)ops->number, word) ? FOUND_WORD : FOUND_ELSEWHERE;
	if (count == 1 && ops->atom == DW_OP_fbreg)
		return in_frame(d, (int64_t)ops->number, word);
	for (size_t i = 0; i < count; i++)
		if (ops[i].atom == DW_OP_piece)
			return FOUND_ELSEWHERE;
	if (ops->atom == DW_OP_fbreg)
		return FOUND_FRAME;
	return computed(d, &attribute, ops, count, fixed);
}

/* Where the ABI has it. Returns false: it is nowhere. */
static bool pass(struct passed *passed, const struct debug_passing *by, struct debug_place *place)
{
	unsigned words = 0, floats = 0;

	*place = (struct debug_place){ .stack = 0 };
	passed->unknown |= by->unknown;
	if (passed->unknown || by->nothing)
		return false;
	for (int i = 0; i < by->words && words + floats < by->registers; i++) {
		floats += by->is_float[i];
		words += !by->is_float[i] && !by->is_padding[i];
	}
	if (!by->in_memory && passed->words + words <= REGISTERS && passed->floats + floats <= FLOATS) {
		for (int i = 0; i < by->words; i++) {
			if (by->is_padding[i] || i >= by->registers + by->is_padding[0])
				continue;
			if (by->is_float[i])
				snprintf(place->word[i], sizeof(place->word[i]), "farg%u", ++passed->floats);
			else
				snprintf(place->word[i], sizeof(place->word[i]), "arg%u", ++passed->words);
		}
		return true;
	}
	if (by->align > 8)
		passed->stack += passed->stack % (unsigned)(by->align / 8)
					 ? (unsigned)(by->align / 8) - passed->stack % (unsigned)(by->align / 8)
					 : 0;
	place->stack = REGISTERS + 1 + passed->stack;
	passed->stack += (unsigned)((by->bytes + 7) / 8);
	if (passed->stack >= PARAMETERS) {
		passed->unknown = true;
		return false;
	}
	return true;
}

/* Is that the register, or the argument on the stack, where the ABI has these bytes? */
static bool is_word_of(const struct debug_place *place, size_t at, const char *word)
{
	char of_stack[16];

	if (!place->stack)
		return at < 16 && !strcmp(word, place->word[at / 8]);
	snprintf(of_stack, sizeof(of_stack), "arg%u", place->stack + (unsigned)(at / 8));
	return !strcmp(word, of_stack);
}

/* Does the debug information say that it is where the ABI has it: in whole, piece by piece, or by its address? */
static bool is_passed(const struct describing *d, Dwarf_Die *parameter, const struct debug_passing *by,
	const struct debug_place *place)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count, at = 0;
	char word[12];

	if (!parameter || !dwarf_attr(parameter, DW_AT_location, &attribute) ||
		dwarf_getlocation_addr(&attribute, d->address, &ops, &count, 1) != 1)
		return false;
	if (by->by_reference)
		return count == 1 && ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31 && !ops->number &&
		       set_register(ops->atom - DW_OP_breg0, word) && is_word_of(place, 0, word);
	for (size_t i = 0; i < count; i++) {
		bool is_register = ops[i].atom >= DW_OP_reg0 && ops[i].atom <= DW_OP_reg31;
		if (is_register ? !set_register(ops[i].atom - DW_OP_reg0, word)
				: ops[i].atom != DW_OP_fbreg ||
					  in_frame(d, (int64_t)ops[i].number, word) != FOUND_WORD)
			return false;
		if (!is_word_of(place, at, word))
			return false;
		if (i + 1 == count)
			return true;
		if (ops[++i].atom != DW_OP_piece)
			return false;
		at += ops[i].number;
	}
	return at >= by->bytes;
}

/* ---- parameters ---- */

/* Of an address that is not kept, clang -O0 tells from where on it is in a register. */
static bool comes_later(enum found found, Dwarf_Die *parameter, const struct debug_passing *by)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr base, low, high;
	Dwarf_Op *ops;
	size_t count;
	ptrdiff_t at = 0;

	if (found != FOUND_NOTHING || !by->by_reference || !parameter ||
		!dwarf_attr(parameter, DW_AT_location, &attribute))
		return false;
	while ((at = dwarf_getlocations(&attribute, at, &base, &low, &high, &ops, &count)) > 0)
		if (count == 1 && ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31 && !ops->number)
			return true;
	return false;
}

/* Where this one is. Returns false: it is a constant, or gone, if *fixed has a type then; or nobody knows. */
static bool locate(struct describing *d, Dwarf_Die *parameter, const struct debug_type *type,
	const struct debug_passing *by, struct debug_place *place, struct values_fixed *fixed)
{
	char word[12];
	bool passed = pass(&d->passed, by, place);
	enum found found = parameter ? find(d, parameter, type, word, fixed) : FOUND_NOTHING;
	bool is_word = type->kind == DEBUG_NUMBER || type->kind == DEBUG_POINTER || type->kind == DEBUG_REFERENCE;

	if (is_word && found == FOUND_WORD) {
		*place = (struct debug_place){ .stack = 0 };
		memcpy(place->word[0], word, sizeof(word));
		return true;
	}
	if (d->is_changed)
		passed = passed && !d->is_moved &&
			 (found == FOUND_FRAME || (!is_word && is_passed(d, parameter, by, place)));
	if (found == FOUND_NOTHING && !by->nothing && !comes_later(found, parameter, by))
		*fixed = (struct values_fixed){ .type = VALUES_TYPE_NONE };
	else if (found == FOUND_FIXED && is_word && type->kind != DEBUG_REFERENCE)
		fixed->type = VALUES_TYPE_HEX; /* until its own is set */
	return passed;
}

/* Looks whether this one is where the ABI has it; where it is not, those behind it may have moved up. */
static void look(struct describing *d, Dwarf_Die *parameter, const struct debug_type *type,
	const struct debug_passing *by)
{
	struct debug_place place;
	struct values_fixed fixed;
	char word[12];

	if (!pass(&d->passed, by, &place))
		return;
	enum found found = parameter ? find(d, parameter, type, word, &fixed) : FOUND_NOTHING;
	if (found != FOUND_FRAME && !comes_later(found, parameter, by))
		d->is_moved |= !is_passed(d, parameter, by, &place);
}

static void add_parameter(struct describing *d, Dwarf_Die *parameter, Dwarf_Die *declared, uint8_t number, bool last)
{
	struct debug_type type;
	struct debug_passing by;
	struct debug_place place;
	struct values_fixed fixed = { .number = 0 };
	const char *name = dwarf_diename(declared);
	bool is_artificial = dwarf_hasattr_integrate(declared, DW_AT_artificial);

	debug_type_of(declared, &type);
	debug_passing(&type, &by);
	if (d->is_looking) {
		look(d, parameter, &type, &by);
		return;
	}
	bool is_there = locate(d, parameter, &type, &by, &place, &fixed);
	if (!is_there && !fixed.type)
		return;
	if (is_artificial && (!name || strcmp(name, "this") != 0))
		return;
	char unnamed[16];
	snprintf(unnamed, sizeof(unnamed), "arg%u", number + 1u);
	const struct debug_value value = { .name = name ? name : unnamed, .role = VALUES_ROLE_ARGUMENT,
		.place = number, .marks = last ? VALUES_MARK_MORE : 0 };
	if (!is_there) {
		if (d->wish->arguments && !contexts_secret(d->wish, value.name))
			debug_members_fix(d->list, &d->info->names, &value, &type, &fixed);
		return;
	}
	char at[16];
	if (place.stack)
		snprintf(at, sizeof(at), "arg%u", place.stack);
	else
		snprintf(at, sizeof(at), "%s", place.word[0]);
	if (type.kind == DEBUG_NUMBER)
		contexts_know(d->list, name, at, type.type, (uint8_t)type.bytes, 0);
	else if (type.kind == DEBUG_POINTER || type.kind == DEBUG_REFERENCE)
		contexts_know(d->list, name, at, VALUES_TYPE_POINTER, 8, dwarf_dieoffset(&type.die));
	if (!d->wish->arguments)
		return;
	if (contexts_secret(d->wish, value.name)) {
		if (type.kind == DEBUG_POINTER || by.by_reference || type.kind == DEBUG_REFERENCE)
			contexts_add(d->list, memory_format("ptr:%s:%s", value.name, at), value.role, value.place,
				value.marks, NULL);
		return;
	}
	if (by.by_reference)
		place = (struct debug_place){ .address = at };
	debug_members_add(d->list, &d->info->names, d->wish, &value, &type, &place,
		d->wish->depth ? d->wish->depth : 1);
}

/* The parameter of the function whose origin is this one. Returns false: it has none. */
static bool of_origin(Dwarf_Die *function, Dwarf_Off origin, Dwarf_Die *found)
{
	Dwarf_Attribute attribute;
	Dwarf_Die from;

	for (int r = dwarf_child(function, found); !r; r = dwarf_siblingof(found, found))
		if (dwarf_tag(found) == DW_TAG_formal_parameter &&
			dwarf_attr(found, DW_AT_abstract_origin, &attribute) &&
			dwarf_formref_die(&attribute, &from) && dwarf_dieoffset(&from) == origin)
			return true;
	return false;
}

static bool has_more(Dwarf_Die *declared)
{
	Dwarf_Die child;

	for (int r = dwarf_child(declared, &child); !r; r = dwarf_siblingof(&child, &child))
		if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
			return true;
	return false;
}

static size_t count_parameters(Dwarf_Die *declared)
{
	size_t count = 0;
	Dwarf_Die child;

	for (int r = dwarf_child(declared, &child); !r; r = dwarf_siblingof(&child, &child))
		count += dwarf_tag(&child) == DW_TAG_formal_parameter;
	return count;
}

/*
 * Constructors and destructors of classes with virtual bases are described with parameters of their own, whether they
 * are complete, and where the bases lie; but most variants of them are called without these.
 */
static bool is_hidden(Dwarf_Die *declared)
{
	const char *name = dwarf_diename(declared);

	return name && dwarf_hasattr_integrate(declared, DW_AT_artificial) && !strncmp(name, "__", 2);
}

static void add_parameters(struct describing *d)
{
	Dwarf_Attribute attribute;
	Dwarf_Die declared = d->function, child, found;
	bool is_instance = dwarf_attr(&d->function, DW_AT_abstract_origin, &attribute) &&
			   dwarf_formref_die(&attribute, &declared);
	size_t count = count_parameters(&declared), number = 0;
	bool more = has_more(&declared);

	for (int r = dwarf_child(&declared, &child); !r && number < UINT8_MAX; r = dwarf_siblingof(&child, &child)) {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		bool last = more && number + 1 == count, hidden = is_hidden(&child);
		Dwarf_Die *own = is_instance ? NULL : &child;
		if (is_instance && of_origin(&d->function, dwarf_dieoffset(&child), &found))
			own = &found;
		if (own || !hidden)
			add_parameter(d, own, &child, (uint8_t)number, last);
		number += !hidden;
		count -= hidden;
	}
}

/* ---- the result ---- */

static void add_result(struct describing *d)
{
	struct debug_type type;
	struct debug_passing by;
	struct debug_place place = { .stack = 0 };
	const struct debug_value value = { .name = "ret", .role = VALUES_ROLE_RESULT };

	debug_type_of(&d->function, &type);
	debug_passing(&type, &by);
	if (type.kind == DEBUG_NOTHING || by.nothing)
		return;
	if (by.unknown) {
		/* Is its place the first argument? */
		d->passed.unknown = true;
		return;
	}
	if (by.is_x87)
		return;
	if (by.in_memory || by.by_reference) {
		/* The caller says where, by a first argument, and is told so again. */
		d->passed.words++;
		place.address = "ret";
	} else {
		unsigned words = 0, floats = 0;
		for (int i = 0; i < by.words && words + floats < by.registers; i++) {
			if (by.is_padding[i])
				continue;
			snprintf(place.word[i], sizeof(place.word[i]), "%sret%s", by.is_float[i] ? "f" : "",
				(by.is_float[i] ? floats : words) ? "2" : "");
			*(by.is_float[i] ? &floats : &words) += 1;
		}
		if (type.kind == DEBUG_NUMBER)
			contexts_know(d->list, NULL, place.word[0], type.type, (uint8_t)type.bytes, 0);
		else if (type.kind == DEBUG_POINTER || type.kind == DEBUG_REFERENCE)
			contexts_know(d->list, NULL, place.word[0], VALUES_TYPE_POINTER, 8,
				dwarf_dieoffset(&type.die));
	}
	if (d->wish->result)
		debug_members_add(d->list, &d->info->names, d->wish, &value, &type, &place,
			d->wish->depth ? d->wish->depth : 1);
}

bool debug_info_contexts(struct debug_info *info, uint64_t address, const char *name, const struct contexts_wish *wish,
	struct contexts_list *list)
{
	struct describing d = { .info = info, .wish = wish, .list = list, .address = address - info->delta };

	if (!debug_functions_find(&info->functions, d.address, &d.function))
		return false;
	d.is_changed = !dwarf_hasattr_integrate(&d.function, DW_AT_external) || (name && strchr(name, '.'));
	add_result(&d);
	if (d.is_changed) {
		const struct passed passed = d.passed;
		d.is_looking = true;
		add_parameters(&d);
		d.is_looking = false;
		d.passed = passed;
	}
	add_parameters(&d);
	return true;
}

bool debug_info_follow(void *context, const struct values_word *word, const char *text, size_t length,
	struct values_path *path, struct values_wrong *wrong)
{
	struct debug_info *info = context;
	Dwarf_Die die;

	return info->functions.dwarf && word && word->about &&
	       dwarf_offdie(info->functions.dwarf, word->about, &die) && debug_path(&die, text, length, path, wrong);
}
