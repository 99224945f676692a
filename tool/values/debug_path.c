/* SPDX-License-Identifier: MIT */
#include "tool/values/debug_path.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "tool/values/debug_type.h"
#include "tool/values/expression.h"

#define NESTED 16 /* structures without a name in structures */

struct walking {
	const char *at, *end;
	struct debug_type type; /* of what was come to */
	bool in_memory;		/* it lies at the address on the stack, plus `offset`; else it is on the stack */
	uint64_t offset;
	struct values_path *path;
	struct values_wrong *wrong;
};

/* Always false. */
static bool fail(struct walking *w, const char *before, const char *part, size_t length, const char *after)
{
	*w->wrong = (struct values_wrong){ .before = before, .after = after, .unknown = true };
	snprintf(w->wrong->part, sizeof(w->wrong->part), "%.*s", (int)length, part);
	return false;
}

static void emit(struct walking *w, uint8_t op, uint64_t operand, size_t size)
{
	if (sizeof(w->path->code) - w->path->size < 1 + size) {
		w->path->size = sizeof(w->path->code) + 1;
		return;
	}
	w->path->code[w->path->size++] = op;
	for (size_t i = 0; i < size; i++, operand >>= 8)
		w->path->code[w->path->size++] = (uint8_t)operand;
}

/* Has the address itself be on the stack. */
static void emit_offset(struct walking *w)
{
	if (w->offset && w->path->size <= sizeof(w->path->code)) {
		emit(w, VALUES_WORD, w->offset, 8);
		emit(w, VALUES_ADD, 0, 0);
	}
	w->offset = 0;
}

/* From a pointer to what it points to. */
static bool dereference(struct walking *w, const char *from)
{
	Dwarf_Die die = w->type.die;

	if (w->type.kind != DEBUG_POINTER && w->type.kind != DEBUG_REFERENCE)
		return fail(w, "there is no pointer in front of", from, (size_t)(w->end - from), "");
	if (w->in_memory) {
		emit_offset(w);
		emit(w, VALUES_READ, 8, 1);
	}
	w->in_memory = true;
	debug_type_of(&die, &w->type);
	return true;
}

/* A member of this name, also of what it inherits. Returns false: there is none. */
static bool find(Dwarf_Die *of, const char *name, size_t length, uint64_t *offset, struct debug_type *type, int depth)
{
	Dwarf_Die child;

	for (int r = depth < NESTED ? dwarf_child(of, &child) : 1; !r; r = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		uint64_t at = tag == DW_TAG_member || tag == DW_TAG_inheritance ? debug_member_offset(&child)
										: UINT64_MAX;
		const char *own = tag == DW_TAG_member ? dwarf_diename(&child) : NULL;
		if (at == UINT64_MAX)
			continue;
		debug_type_of(&child, type);
		if (own && strlen(own) == length && !strncmp(own, name, length)) {
			*offset += at;
			return true;
		}
		Dwarf_Die inner = type->die;
		if (!own && type->kind != DEBUG_NOTHING && find(&inner, name, length, offset, type, depth + 1)) {
			*offset += at;
			return true;
		}
	}
	return false;
}

static bool member(struct walking *w)
{
	size_t length = 0;
	Dwarf_Die die = w->type.die;
	struct debug_type type;

	while (w->at + length < w->end && (isalnum((unsigned char)w->at[length]) || w->at[length] == '_'))
		length++;
	if (w->type.kind != DEBUG_STRUCT && w->type.kind != DEBUG_OTHER)
		return fail(w, "there is no structure with a member", w->at, length, "");
	if (!length || !find(&die, w->at, length, &w->offset, &type, 0))
		return fail(w, "no member is called", w->at, length, "");
	w->type = type;
	w->at += length;
	return true;
}

/* [N], behind the bracket. */
static bool element(struct walking *w)
{
	const char *from = w->at - 1;
	uint64_t number = 0;
	struct debug_type type;

	if (w->at == w->end || !isdigit((unsigned char)*w->at))
		return fail(w, "expected a number in", from, (size_t)(w->end - from), "");
	for (; w->at < w->end && isdigit((unsigned char)*w->at) && number < 1u << 30; w->at++)
		number = number * 10 + (uint64_t)(*w->at - '0');
	if (w->at == w->end || *w->at++ != ']')
		return fail(w, "expected a bracket in", from, (size_t)(w->end - from), "");
	if (w->type.kind == DEBUG_ARRAY && w->in_memory) {
		Dwarf_Die die = w->type.die;
		debug_type_of(&die, &type);
		w->type = type;
	} else if (!dereference(w, from)) {
		return false;
	}
	if (!w->type.bytes)
		return fail(w, "it is not known how large elements are of", from, (size_t)(w->end - from), "");
	w->offset += number * w->type.bytes;
	return true;
}

/* What was come to, as a value. */
static bool finish(struct walking *w, const char *text)
{
	struct values_word *is = &w->path->is;
	struct debug_type to;
	Dwarf_Die die = w->type.die;

	emit_offset(w);
	*is = (struct values_word){ .type = VALUES_TYPE_POINTER, .size = 8 };
	switch (w->type.kind) {
	case DEBUG_NUMBER:
		emit(w, VALUES_READ, w->type.bytes, 1);
		if (w->type.type == VALUES_TYPE_SIGNED && w->type.bytes < 8)
			emit(w, VALUES_SIGNED, w->type.bytes, 1);
		is->type = w->type.type;
		is->size = (uint8_t)w->type.bytes;
		break;
	case DEBUG_POINTER:
	case DEBUG_REFERENCE:
		emit(w, VALUES_READ, 8, 1);
		debug_type_of(&die, &to);
		if (to.is_char)
			*is = (struct values_word){ .type = VALUES_TYPE_TEXT };
		break;
	case DEBUG_ARRAY:
		debug_type_of(&die, &to);
		if (to.is_char)
			*is = (struct values_word){ .type = VALUES_TYPE_TEXT };
		break;
	case DEBUG_STRUCT:
	case DEBUG_STRING:
	case DEBUG_OTHER:
		/* Its address. */
		break;
	default:
		return fail(w, "no value is", text, (size_t)(w->end - text), "");
	}
	if (w->path->size > sizeof(w->path->code))
		return fail(w, "that is too long:", text, (size_t)(w->end - text), "");
	return true;
}

bool debug_path(Dwarf_Die *from, const char *text, size_t length, struct values_path *path,
	struct values_wrong *wrong)
{
	struct walking w = { .at = text, .end = text + length, .path = path, .wrong = wrong };

	debug_type_is(from, &w.type);
	while (w.at < w.end) {
		const char *step = w.at;
		if (!strncmp(w.at, "->", 2)) {
			w.at += 2;
			if (!dereference(&w, step) || !member(&w))
				return false;
		} else if (*w.at == '.' && w.in_memory) {
			w.at++;
			if (!member(&w))
				return false;
		} else if (*w.at == '[') {
			w.at++;
			if (!element(&w))
				return false;
		} else {
			return fail(&w, "what is", step, (size_t)(w.end - step), "behind a member");
		}
	}
	return finish(&w, text);
}
