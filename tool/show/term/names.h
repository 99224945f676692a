/* SPDX-License-Identifier: MIT */
/*
 * Names of functions as people read them: symbols of C++ and Rust are demangled, by libiberty, and those of C++ made
 * simple (simple.h). A trace has raw names: these are what JSON calls "function", what rules and `xaudit record -F`
 * take, and what rows are matched by. All views for people show a name by names_print(), or by names_shown() and
 * tool_text(): a demangled name is no more to be trusted than a raw one, for its mangled form may say any character.
 *
 * Two functions that differ in what simple names leave out are both shown in full: the names that were met are kept, as
 * hashes. A view that knows its rows before it shows them has all of them met first; in one that does not, such as the
 * lines of a trace that runs, the function that was met later has its full name.
 *
 * A hostile name costs little: the work on a name is bounded by the name's length, a result that is much longer than
 * the name is given up, and the table of results is emptied when it gets large. Of more names than MET_MOST the later
 * ones are shown in full. One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_TERM_NAMES_H
#define XAUDIT_TOOL_SHOW_TERM_NAMES_H

#include <stdbool.h>
#include <stdio.h>

#include "tool/base/options.h"

/* The rows of the options that have all names stay as they are in the trace, or whole, for the command that runs. */
#define NAMES_ROW                                                                                      \
	NAMES_RAW_ROW, { 0, "full-names", NULL, "names of C++ with all arguments of templates",         \
		.take = names_take_full }
#define NAMES_RAW_ROW                                                                                  \
	{ 0, "no-demangle", NULL, "names of C++ and Rust as the object files have them", .take = names_take_raw }
bool names_take_raw(const struct options_given *given);
bool names_take_full(const struct options_given *given);

/* The demangled name; NULL where it is the same, or under --no-demangle. Valid until the next call of this file. */
const char *names_demangled(const char *raw);

/* The demangled name, or the raw one: for files that other programs read. NULL is NULL. As long valid as both. */
const char *names_full(const char *raw);

/* What people are shown: the same, but simple, unless --full-names is given. As long valid as names_full(). */
const char *names_shown(const char *raw);

/* The function is about to be shown beside the others that are met: see the top. NULL is none. */
void names_meet(const char *raw);

/* What stands behind the name of a function that is called: "()", or nothing if the name has its parameters. */
const char *names_call(const char *raw);

/* As names_print(), without parameters, and what stands behind them: the values of a call follow. */
void names_print_bare(FILE *file, const char *raw);

/* names_shown(), by term_name(): where lines are cut to the terminal, it is the name that is cut. */
void names_print(FILE *file, const char *raw);

/*
 * Writes a name, or any other one of a frame, for a line of folded stacks: through tool_text(), and with a colon for a
 * semicolon, which would be taken for the end of the name.
 */
void names_fold(FILE *file, const char *name);

/* Writes ,"demangled":"..." where there is a demangled name, else nothing: to follow a member that has the raw one. */
void names_json(FILE *file, const char *raw);

/*
 * Does a FUNC of a command line, a pattern as `xaudit record -F` takes it, without library, name this function: by its
 * raw name, by the demangled one, by that without parameters, or by what these are if they are simple? --no-demangle
 * and --full-names do not matter.
 */
bool names_match(const char *pattern, const char *raw);

/*
 * The same for a FUNC that may have its library behind an @: the last part of the path, or all of it; a pattern is for
 * all of it if there is a slash in it. The second one: by the name, or by one of the aliases
 * (xaudit_read_function.aliases)?
 */
bool names_mean(const char *pattern, const char *raw, const char *library);
bool names_mean_any(const char *pattern, const char *raw, const char *aliases, const char *library);

#endif
