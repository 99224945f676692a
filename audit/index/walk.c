/* SPDX-License-Identifier: MIT */
#include "audit/index/walk.h"

#include <errno.h>

#include "audit/index/index.h"
#include "audit/match/cxx.h"

static const struct index_order *order_at(const struct index *index, size_t i)
{
	return index_bytes(index, index->order + i * sizeof(struct index_order), sizeof(struct index_order));
}

/* Characters that stand for themselves at the beginning of a pattern. */
static size_t literal(const char *pattern)
{
	size_t n = 0;

	while (pattern[n] && pattern[n] != '*' && pattern[n] != '?' && pattern[n] != '[' && pattern[n] != '\\')
		n++;
	return n;
}

/* As strcmp(), of the first n bytes of `text`, and (whole) the end of it. */
static int compare(const char *name, const char *text, size_t n, int whole)
{
	for (size_t i = 0; i < n; i++)
		if (name[i] != text[i])
			return (unsigned char)name[i] < (unsigned char)text[i] ? -1 : 1;
	return whole && name[n] ? 1 : 0;
}

/* The first name that is not before these n bytes; SIZE_MAX: damaged. */
static size_t find(const struct index *index, const char *text, size_t n, int whole)
{
	size_t low = 0, high = index->ordered;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct index_order *entry = order_at(index, middle);
		const char *name = entry ? index_text(index, entry->name) : NULL;
		if (!name)
			return SIZE_MAX;
		if (compare(name, text, n, whole) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void index_match(const struct index *index, const char *pattern, struct index_walk *walk)
{
	/* Of a name of C++ symbols begin in several ways, but all with this. */
	int is_cxx = cxx_is_pattern(pattern);

	*walk = (struct index_walk){ .pattern = is_cxx ? "_Z" : pattern, .literal = literal(is_cxx ? "_Z" : pattern) };
	walk->all = pattern[0] == '*' && !pattern[1];
	walk->whole = !is_cxx && !pattern[walk->literal];
	/* What can't be found is not to be taken for nothing: the first step says so. */
	if (walk->literal || walk->whole)
		walk->at = find(index, walk->pattern, walk->literal, walk->whole);
}

int index_next(const struct index *index, struct index_walk *walk, size_t *number, const char **name)
{
	const struct index_function *function;

	if (walk->at == SIZE_MAX)
		goto damaged;
	if (walk->at >= (walk->all ? index->functions : index->ordered))
		return 0;
	if (walk->all) {
		function = index_function(index, walk->at);
		*name = function ? index_name(index, function) : NULL;
		if (!function || (function->name && !*name))
			goto damaged;
		*number = walk->at++;
		return 1;
	}
	const struct index_order *entry = order_at(index, walk->at);
	*name = entry ? index_text(index, entry->name) : NULL;
	if (!*name || entry->function >= index->functions)
		goto damaged;
	if (compare(*name, walk->pattern, walk->literal, walk->whole)) {
		walk->at = index->ordered;
		return 0;
	}
	*number = entry->function;
	walk->at++;
	return 1;
damaged:
	index_spoil(index);
	walk->at = index->functions > index->ordered ? index->functions : index->ordered;
	return -EBADMSG;
}
