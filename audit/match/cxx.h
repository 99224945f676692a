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

/* Makes it what people are shown, without inline namespaces: ::std::string. Returns false: it is so already. */
bool cxx_simple(char *name);

/*
 * Is a pattern of functions meant for these names: has it a "::", or begins it with an operator's name? Behind that
 * word, a character of patterns could as well go on with a name of C: for these, "::" has to be written.
 */
bool cxx_is_pattern(const char *pattern);

/* Does a pattern name operators, which may have signs such as '=' in their names? */
bool cxx_names_operator(const char *pattern, size_t length);

/*
 * Bytes of the first word of a text of that length, which ends at a blank. One that belongs to the name of an operator
 * ends no word: "operator new[]", "Class::operator delete", "operator new*"; nor does that of "(anonymous namespace)".
 */
size_t cxx_word(const char *text, size_t length);

/*
 * Does the pattern, if it is one for such names, match the symbol's (rules_glob())? One that begins with "::" is
 * compared with all of it, one that does not with what stands behind its first "::". So it is with the name in the form
 * that people are shown: std::string for std::__cxx11::basic_string.
 */
bool cxx_match(const char *pattern, const char *symbol);

/* Can no name match, since the pattern has parameters, or arguments of a template? */
bool cxx_has_more(const char *pattern);

#endif
