/* SPDX-License-Identifier: MIT */
/*
 * Functions of an index by names or patterns of names, to select them. Any thread, async-signal-safe.
 *
 *	struct index_walk walk;
 *	index_match(index, pattern->function, &walk);
 *	while ((r = index_next(index, &walk, &number, &name)) > 0)
 *		if (rules_match(pattern, name, path, soname))
 *			the function `number` is meant
 *
 * It is done for each pattern; a function comes once for each of its names that could match, so remember by number what
 * is selected. Patterns that exclude are walked in the same way, after those that select.
 */
#ifndef XAUDIT_AUDIT_INDEX_WALK_H
#define XAUDIT_AUDIT_INDEX_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "audit/index/index.h"

/* The caller's; what it holds is walk.c's business. */
struct index_walk {
	const char *pattern;
	size_t literal; /* bytes of it */
	size_t at;	/* entry of the order; function, if `all`; SIZE_MAX: damaged */
	int all, whole; /* whole: the pattern is a literal name */
};

/*
 * Begins a walk over the functions that a pattern (rules_match()) could mean: of a literal name those alone, of a
 * literal prefix those that begin with it, both found by binary search; else all that have a name. Of a name of C++
 * (audit/match/cxx.h) it is all symbols of that language. "*" is each function once, by address, with the best of its
 * names or none. Whether a name does match is for the caller to ask. The pattern stays the caller's, and must stay
 * until the walk is over.
 */
void index_match(const struct index *index, const char *pattern, struct index_walk *walk);

/* The next one: 1; 0: there are no more; -EBADMSG: damaged, and the walk is over. *name: NULL if it has none. */
int index_next(const struct index *index, struct index_walk *walk, size_t *number, const char **name);

#endif
