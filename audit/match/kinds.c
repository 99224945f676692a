/* SPDX-License-Identifier: MIT */
#include "audit/match/kinds.h"

#include <stddef.h> /* NULL */

const struct kind_row kind_rows[TRACE_KIND_COUNT] = {
#define X(number, NAME, kind_word) [number].word = (kind_word),
	TRACE_KINDS(X)
#undef X
#define X(NAME, row_flags, row_section, row_note, row_types, STUB, LISTED, about) \
	[TRACE_KIND_##NAME].section = (row_section), \
	[TRACE_KIND_##NAME].note = (row_note), \
	[TRACE_KIND_##NAME].types = (row_types), \
	[TRACE_KIND_##NAME].flags = (row_flags), \
	[TRACE_KIND_##NAME].stub = KIND_STUB_##STUB, \
	[TRACE_KIND_##NAME].listed = KIND_LISTS_##LISTED,
	KINDS(X)
#undef X
};

#define X(...) + 1
_Static_assert(KINDS(X) == TRACE_KIND_COUNT, "a row for each");
#undef X
_Static_assert(SLED_TYPES <= 16, "bits of kind_row.types");
