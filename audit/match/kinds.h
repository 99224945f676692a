/* SPDX-License-Identifier: MIT */
/*
 * The kinds of sites: how sites come to be, and what follows from that. Everything that differs between kinds, except
 * code, is here, one row for each kind. Code that handles sites asks for what the row says, not which kind it is.
 *
 * A new kind needs a number and a word (format/trace.h), a row here, and a way to find its sites in a file
 * (audit/site/site.c); if its bytes are of a new form, also a row of x86_64/sled.c.
 *
 * Constant data: any thread, any time. Module, command and tests link it.
 */
#ifndef XAUDIT_AUDIT_MATCH_KINDS_H
#define XAUDIT_AUDIT_MATCH_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"      /* enum trace_kind */
#include "runtime/api/table.h" /* GUARD_NOTE */
#include "x86_64/sled.h"       /* enum sled_type */

enum kind_flags {
	/* Where its sites come from. */
	KIND_BY_SECTION = 1, /* from the file: sections of this name hold their maps */
	KIND_BY_NOTE = 2,    /* from the file: notes of libxaudit-api, of this type, name their tables */
	KIND_BOUND = 4,	     /* from ld.so, which binds symbols by name; switched in their cells, not in the text */
	/* What they do when they are on. */
	KIND_EVENTS = 8,   /* raise events: functions have ids, and if one is selected, the process makes a trace */
	KIND_RETURNS = 16, /* keep the return address in the mirror, so returns are events without sites */
	/* When they are on without being named. */
	KIND_DEFAULT = 32, /* where a section of the rules names no kinds */
	KIND_UNASKED = 64, /* also in objects that no section of the rules names */
	/* Where its sites come from, besides. */
	/*
	 * From the file's index (format/index.h). In a set, their functions share the range of kind entry: it grows
	 * (audit/live/entry.h).
	 */
	KIND_BY_INDEX = 128,
};

/* What sites jump to. In all kinds, each event sled has a stub of its own in addition. */
enum kind_stub {
	KIND_STUB_NONE,	   /* code of the same function (site_range.target); or none, where nothing is written */
	KIND_STUB_XRAY,	   /* of the load, one per type of sled: the sled tells the function's index */
	KIND_STUB_CELL,	   /* of the load, one per function, with a cell (x86_64/stub.h) */
	KIND_STUB_BINDING, /* as KIND_STUB_CELL, made when the function is bound first */
	KIND_STUB_COPY,	   /* as KIND_STUB_CELL, in blocks of their own with out-of-line copies (live/entry.h) */
};

/* What `xaudit list` counts as its sites. */
enum kind_listed {
	KIND_LISTS_SITES,   /* of the file, and their functions */
	KIND_LISTS_EXPORTS, /* exported functions */
	KIND_LISTS_IMPORTS, /* functions of other objects */
};

/*
 * X(NAME, enum kind_flags, name of its sections, type of its note, types of its sleds, STUB, LISTED, "its functions, as
 * `xaudit list --help` tells"); KINDS_SLED(TYPE) is one type as a bit
 */
#define KINDS(X)                                                                                                       \
	X(XRAY, KIND_BY_SECTION | KIND_EVENTS | KIND_DEFAULT, "xray_instr_map", 0,                                     \
		KINDS_SLED(XRAY_ENTRY) | KINDS_SLED(XRAY_EXIT) | KINDS_SLED(XRAY_TAIL) | KINDS_SLED(XRAY_CUSTOM) |     \
			KINDS_SLED(XRAY_TYPED),                                                                        \
		XRAY, SITES, "functions compiled with clang -fxray-instrument")                                        \
	X(PATCHABLE, KIND_BY_SECTION | KIND_EVENTS | KIND_RETURNS | KIND_DEFAULT, "__patchable_function_entries", 0,   \
		KINDS_SLED(PATCHABLE) | KINDS_SLED(PATCHABLE_HOT) | KINDS_SLED(PATCHABLE_HOT_CET), CELL, SITES,        \
		"functions compiled with -fpatchable-function-entry=N")                                                \
	X(PLT, KIND_BOUND | KIND_EVENTS | KIND_RETURNS, NULL, 0, 0, BINDING, EXPORTS,                                  \
		"exported functions, which other objects call")                                                        \
	X(CALLS, KIND_BOUND | KIND_EVENTS | KIND_RETURNS, NULL, 0, 0, BINDING, IMPORTS,                                \
		"functions of other objects that the file calls through its PLT")                                      \
	X(GUARD, KIND_BY_NOTE | KIND_DEFAULT | KIND_UNASKED, NULL, GUARD_NOTE, KINDS_SLED(GUARD), NONE, SITES,         \
		"functions that hold guards (XAUDIT_IF_TRACED of xaudit.h)")                                           \
	X(ENTRY, KIND_BY_INDEX | KIND_EVENTS | KIND_RETURNS, NULL, 0,                                                  \
		KINDS_SLED(ENTRY) | KINDS_SLED(ENTRY_PADDING) | KINDS_SLED(ENTRY_PADDING_CET), COPY, SITES,            \
		"functions whose first instructions can run elsewhere")                                                \
	X(CYG, KIND_EVENTS, NULL, 0, 0, NONE, SITES, "functions compiled with -finstrument-functions")                 \
	X(FENTRY, KIND_BY_INDEX | KIND_EVENTS | KIND_RETURNS, NULL, 0, KINDS_SLED(ENTRY), COPY, SITES,                 \
		"functions compiled with -pg -mfentry")                                                                \
	X(MCOUNT, KIND_BY_INDEX | KIND_EVENTS | KIND_RETURNS, NULL, 0,                                                 \
		KINDS_SLED(ENTRY) | KINDS_SLED(ENTRY_PADDING) | KINDS_SLED(ENTRY_PADDING_CET), COPY, SITES,            \
		"functions compiled with -pg")
#define KINDS_SLED(TYPE) (1u << SLED_##TYPE)

struct kind_row {
	const char *word;    /* of configuration and reports */
	const char *section; /* KIND_BY_SECTION: its name */
	uint32_t note;	     /* KIND_BY_NOTE: its type */
	uint16_t types;	     /* mask of 1 << enum sled_type */
	uint8_t flags;	     /* enum kind_flags */
	uint8_t stub;	     /* enum kind_stub */
	uint8_t listed;	     /* enum kind_listed */
};

extern const struct kind_row kind_rows[TRACE_KIND_COUNT];

/* Has the kind one of these flags? 0 for a number that is no kind. */
static inline bool kind_has(unsigned kind, unsigned flags)
{
	return kind < TRACE_KIND_COUNT && kind_rows[kind].flags & flags;
}

/* The kinds that have one of these flags: a mask of 1 << enum trace_kind, a constant at compile time. */
static inline unsigned kinds_with(unsigned flags)
{
#define X(NAME, row_flags, section, note, types, STUB, LISTED, about) \
	| ((row_flags)&flags ? 1u << TRACE_KIND_##NAME : 0)
	return 0 KINDS(X);
#undef X
}

/* The kind whose range of a set has the functions of this one. */
static inline unsigned kind_home(unsigned kind)
{
	return kind_has(kind, KIND_BY_INDEX) ? TRACE_KIND_ENTRY : kind;
}

#endif
