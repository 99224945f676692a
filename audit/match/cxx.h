/* SPDX-License-Identifier: MIT */
/*
 * Names of C++ as people write them, of symbols: "::ns::Class::method" of _ZN2ns5Class6methodEi. It is no demangler,
 * which would need a heap and much code in the traced process: parameters, and arguments of templates, are left out, so
 * a name stands for all overloads and instances, and what can't be read to the end of the name, such as lambdas, has
 * none. Rust's older names are read, too, without their hash.
 *
 * Pure: no allocation, no libc, no state. Any thread, async-signal-safe.
 * Whatever the symbol is, it is read once.
 */
#ifndef XAUDIT_AUDIT_MATCH_CXX_H
#define XAUDIT_AUDIT_MATCH_CXX_H

#include <stdbool.h>
#include <stddef.h>

#define CXX_NAME_SIZE 256 /* longer names have none */

/* Writes the name, which begins with "::". Returns 0 if the symbol has no such name. */
int cxx_name(const char *symbol, char name[CXX_NAME_SIZE]);

/* Is a pattern of functions meant for these names: has it a "::"? */
static inline bool cxx_is_pattern(const char *pattern)
{
	for (; *pattern; pattern++)
		if (pattern[0] == ':' && pattern[1] == ':')
			return true;
	return false;
}

/*
 * Does the pattern, if it is one for such names, match the symbol's (rules_glob())? One that begins with "::" is
 * compared with all of it, one that does not with what stands behind its first "::".
 */
bool cxx_match(const char *pattern, const char *symbol);

/* Is it a pattern for such names that none can match, since it has parameters, or arguments of a template? */
bool cxx_has_more(const char *pattern);

#endif
