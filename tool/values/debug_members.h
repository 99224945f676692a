/* SPDX-License-Identifier: MIT */
/*
 * Contexts for a value whose type DWARF knows: itself, what it refers to, or its members. Memory that runs out ends the
 * command. One thread.
 */
#ifndef XAUDIT_TOOL_VALUES_DEBUG_MEMBERS_H
#define XAUDIT_TOOL_VALUES_DEBUG_MEMBERS_H

#include "tool/values/contexts.h"
#include "tool/values/debug_type.h"

/* Where a value is: in words of the call, or at an address. */
struct debug_place {
	char word[2][12]; /* "arg1"; "" of padding; of what is on the stack: what its first bytes are in */
	unsigned stack;	  /* N of the argN that its first bytes are in; 0: it is not on the stack */
	const char *address; /* an expression; NULL: it is in words */
};

/* Enums that were asked for: each once. Zeros: none. */
struct debug_names {
	struct prototype_names **list;
	Dwarf_Off *die;
	size_t count;
};

struct debug_value {
	const char *name;
	uint8_t role, place, marks;
};

/* Adds what is recorded of a value. depth: levels of structures. */
void debug_members_add(struct contexts_list *list, struct debug_names *names, const struct contexts_wish *wish,
	const struct debug_value *value, const struct debug_type *type, const struct debug_place *place,
	uint32_t depth);

/* The same of a parameter that is a number or a pointer, and always the same, or that is nowhere. */
void debug_members_fix(struct contexts_list *list, struct debug_names *names, const struct debug_value *value,
	const struct debug_type *type, struct values_fixed *fixed);

void debug_names_free(struct debug_names *names);

#endif
