/* SPDX-License-Identifier: MIT */
/*
 * Types as DWARF has them, and how values of them are passed (System V ABI, x86-64). The debug information may be
 * damaged in any way: chains of types are followed only so far.
 *
 * Functions keep nothing; strings and entries belong to the debug information.
 */
#ifndef XAUDIT_TOOL_VALUES_DEBUG_TYPE_H
#define XAUDIT_TOOL_VALUES_DEBUG_TYPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/values.h"

enum debug_kind {
	DEBUG_NOTHING, /* void, or it is not known */
	DEBUG_NUMBER,  /* also an enum, a bool */
	DEBUG_POINTER,
	DEBUG_REFERENCE,
	DEBUG_STRUCT, /* or a class */
	DEBUG_ARRAY,
	DEBUG_STRING, /* a std::string, which lies in memory */
	DEBUG_OTHER,
};

struct debug_type {
	enum debug_kind kind;
	enum values_type type; /* of a number */
	uint64_t bytes;	       /* 0: unknown */
	bool is_char, is_bool, is_enum;
	const char *string; /* which std::string, as a type of expression.h */
	Dwarf_Die die;	    /* without typedef and const */
};

/* The type of an entry that has one (a parameter, a member, a pointer). */
void debug_type_of(Dwarf_Die *of, struct debug_type *type);

/* The same of an entry that is itself a type. */
void debug_type_is(Dwarf_Die *die, struct debug_type *type);

/* How a value is passed, or comes back. */
struct debug_passing {
	bool in_memory;	   /* on the stack; as a result: where the caller says */
	bool by_reference; /* the address of a copy is passed in its stead */
	bool is_x87;	   /* it comes back in a register of the old kind */
	bool nothing;	   /* it has no bytes */
	bool unknown;	   /* it is only declared: nobody knows */
	uint8_t words;	   /* of 8 bytes that registers hold: 1 or 2 */
	bool is_float[2], is_padding[2];
	uint8_t registers; /* that they take: a vector takes one for two words */
	uint64_t bytes, align; /* on the stack */
};

void debug_passing(const struct debug_type *type, struct debug_passing *passing);

/* Where a member lies; UINT64_MAX: it is a bit-field, a static one, or unknown. */
uint64_t debug_member_offset(Dwarf_Die *member);

#endif
