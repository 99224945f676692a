/* SPDX-License-Identifier: MIT */
/*
 * Addresses of functions, for formats that know functions by these alone. A process maps its objects where it likes,
 * children and reloads elsewhere, and one address means many things in a trace. So these are made up: each object has
 * one address over all of the trace, a multiple of 2^32, and in it functions are where the object was linked to have
 * them: the low half of an address is what addr2line, of that object, wants. Two functions that the trace has at one
 * place, and those of code without a file beyond 4 GiB, get a place of their own at the object's end. User space has 47
 * bits: objects behind the first 16383 get 64 MiB each, and those behind another million share the last one's room.
 *
 * One thread. Zeroed memory has none.
 */
#ifndef XAUDIT_TOOL_EXPORT_FOLDERS_PLACES_H
#define XAUDIT_TOOL_EXPORT_FOLDERS_PLACES_H

#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/read/api/xaudit-read.h"

struct places_object {
	const struct xaudit_read_object *object;
	uint64_t base, span; /* bytes */
	uint64_t end;	     /* behind the last function */
	uint64_t made;	    /* bytes at its end that were given to functions without a place */
};

struct places_function {
	const struct xaudit_read_function *function; /* NULL: it was not asked for */
	uint64_t address;
	uint32_t object; /* number of */
};

struct places {
	struct places_object *object; /* in the order in which they were met */
	struct places_function *function; /* by number in the trace */
	uint32_t objects, functions;
	struct hash by_object, by_address;
	uint32_t *order; /* places_sort() */
	uint32_t known;
};

/* The number of an object, which gets its address now if it has none. */
uint32_t places_object(struct places *places, const struct xaudit_read_object *object);

/* The same of a function. Valid until the next call. */
const struct places_function *places_add(struct places *places, const struct xaudit_read_function *function);

static inline const struct places_function *places_function(
	struct places *places, const struct xaudit_read_function *function)
{
	if (function->number < places->functions && places->function[function->number].function)
		return &places->function[function->number];
	return places_add(places, function);
}

/*
 * Of all functions that were asked for, the one that is number i in the order of addresses, from 0 on; NULL: there are
 * no more. No function may be added while the caller goes through them.
 */
const struct places_function *places_sorted(struct places *places, uint32_t i);

void places_free(struct places *places);

#endif
