/* SPDX-License-Identifier: MIT */
/*
 * Layouts of values of calls (LAYOUTS in format/values.h), from records that may be damaged. What can't be read of one
 * is left out, from there on: its events are calls and ends all the same.
 *
 * Functions keep nothing. Any thread.
 */
#ifndef XAUDIT_TOOL_READ_VALUES_LAYOUT_H
#define XAUDIT_TOOL_READ_VALUES_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/values.h"
#include "tool/read/damage/memory.h"

/* A value. */
struct read_layout_value {
	const char *name;  /* in the layout; may be empty */
	const char *words; /* names of numbers, as struct trace_value has them; may be empty */
	const char *when;  /* as struct trace_value has it; may be empty */
	uint8_t type;	   /* enum values_type */
	uint8_t size;	   /* bytes of a number; 0: a text, bytes, or nothing */
	uint8_t role;	   /* enum values_role */
	uint8_t place;
	uint8_t marks;	   /* enum values_marks */
};

/* One allocation. */
struct read_layout {
	uint32_t number;
	uint32_t event; /* TRACE_WORD(): type, TRACE_ENTRY to TRACE_POINT or TRACE_PROBE, and id of its events */
	uint32_t states; /* values that the record tells of: so many states events may begin with */
	uint32_t count; /* values that are known: the first ones of these */
	bool has_stack; /* one of them is a VALUES_TYPE_STACK */
	bool has_fails;
	int64_t fails;	/* a result that means failure */
	struct read_layout_value value[];
};

/*
 * The layout of a record of type TRACE_REC_LAYOUT. NULL: nothing of it can be read, or there is no memory. *good: false
 * if the record contradicts itself. The caller frees it.
 */
struct read_layout *read_layout(struct read_damage *damage, const struct trace_record *record, bool *good);

#endif
