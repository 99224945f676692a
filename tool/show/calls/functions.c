/* SPDX-License-Identifier: MIT */
#include "tool/show/calls/functions.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

static bool same(const struct xaudit_read_function *a, const struct xaudit_read_function *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->object->path, b->object->path);
}

/* first: of the first trace, in which all are different. */
static uint32_t take(struct functions *functions, const struct xaudit_read_function *function, bool first)
{
	uint32_t hash = hash_text(hash_text(0, function->name), function->object->path);
	uint32_t found = first ? HASH_NONE :
				 HASH_FIND(i, &functions->by_name, hash, same(functions->function[i], function));

	if (found != HASH_NONE)
		return found;
	functions->function = memory_grow(functions->function, functions->functions, sizeof(*functions->function));
	memory_hash(&functions->by_name, hash, functions->functions);
	functions->function[functions->functions] = function;
	return functions->functions++;
}

void functions_take(struct functions *functions, const struct xaudit_read_trace *trace, uint32_t number)
{
	while (functions->traces <= number) {
		functions->of = memory_grow(functions->of, functions->traces, sizeof(*functions->of));
		functions->of[functions->traces++] = (struct functions_of){ 0 };
	}
	struct functions_of *of = &functions->of[number];
	uint32_t all = xaudit_read_functions(trace);
	if (of->known < all)
		of->number = memory_resize(of->number, all, sizeof(*of->number));
	for (; of->known < all; of->known++)
		of->number[of->known] = take(functions, xaudit_read_function(trace, of->known),
			functions->traces == 1);
}

uint32_t functions_in(const struct functions *functions, uint32_t trace, uint32_t number)
{
	const struct functions_of *of = &functions->of[trace];

	for (uint32_t i = 0; i < of->known; i++)
		if (of->number[i] == number)
			return i;
	return FUNCTIONS_NONE;
}

void functions_free(struct functions *functions)
{
	for (uint32_t i = 0; i < functions->traces; i++)
		free(functions->of[i].number);
	free(functions->of);
	free(functions->function);
	hash_free(&functions->by_name);
	*functions = (struct functions){ 0 };
}
