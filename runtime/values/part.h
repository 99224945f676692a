/* SPDX-License-Identifier: MIT */
/* One end of a function's calls, as a plan has it. For plans.h and actions.h. Keeps nothing. */
#ifndef XAUDIT_RUNTIME_VALUES_PART_H
#define XAUDIT_RUNTIME_VALUES_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "format/plan.h"
#include "format/values.h"
#include "runtime/values/evaluate.h"

struct values_part {
	const uint8_t *code; /* NULL: nothing is done */
	const struct trace_layout *layout; /* NULL: it puts no values */
	struct values_facts facts;
	uint32_t bytes;	 /* of the layout */
	uint32_t number; /* the layout's in the trace; 0: none yet */
	uint32_t event;	 /* TRACE_WORD() of the events that have it */
};

/* Do so many bytes lie in the plan at this position, which divides by `align`? */
bool values_lies_in(const struct plan_head *plan, uint64_t at, uint64_t size, uint64_t align);

/* Does a text that ends with NUL begin there, within the plan's bytes? */
bool values_is_text(const char *text, uint64_t at, uint64_t size);

/* Checks one, of a plan whose head is checked. Returns false: it is damaged. */
bool values_take_part(struct values_part *to, const struct plan_head *plan, const struct plan_part *from);

#endif
