/* SPDX-License-Identifier: MIT */
#include "tool/alloc/functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tool/base/memory.h"

static const struct alloc_function functions[] = {
#define X(pattern, KIND, address, size, factor, sampled) \
	{ pattern, ALLOC_##KIND, address, size, factor, sampled, ALLOC_##KIND == ALLOC_NEW && (address) >= 0 },
	ALLOC_FUNCTIONS(X)
#undef X
};

#define FUNCTIONS (sizeof(functions) / sizeof(*functions))

static bool is_named(const char *pattern, const char *name)
{
	size_t length = strcspn(pattern, "*");

	return pattern[length] ? !strncmp(pattern, name, length) : !strcmp(pattern, name);
}

static const struct alloc_function *by_name(const char *name)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		if (is_named(functions[i].pattern, name))
			return &functions[i];
	return NULL;
}

const struct alloc_function *alloc_function_of(const struct xaudit_read_function *function)
{
	const struct alloc_function *found = by_name(function->name);

	for (const char *name = function->aliases; !found && name && *name; name += strlen(name) + 1)
		found = by_name(name);
	return found;
}

const struct alloc_function *alloc_function_at(unsigned number)
{
	return number < FUNCTIONS ? &functions[number] : NULL;
}

char *alloc_function_contexts(const struct alloc_function *function, uint32_t backtrace, uint64_t sample)
{
	const int place[] = { function->address, function->size, function->factor };
	char *contexts;
	size_t size;
	FILE *to = memory_need(open_memstream(&contexts, &size));

	for (size_t i = 0; i < sizeof(place) / sizeof(*place); i++)
		if (place[i] >= 0)
			fprintf(to, "%sarg%d", ftell(to) ? "," : "", place[i] + 1);
	if (function->kind != ALLOC_FREE && function->kind != ALLOC_UNMAP)
		fprintf(to, ",ret,backtrace:%" PRIu32, backtrace);
	if (function->out)
		fprintf(to, ",out:ptr:" ALLOC_OUT ":+0(arg%d)", function->address + 1);
	if (sample && *function->sampled)
		fprintf(to, ",sample:%" PRIu64 ":%s", sample, function->sampled);
	if (fclose(to))
		memory_failed();
	return contexts;
}
