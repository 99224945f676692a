/* SPDX-License-Identifier: MIT */
/*
 * A library that is opened by the one command that needs it: linked, it would take its time at the start of each
 * command. Its functions are members of a struct, with the types that its header has:
 *
 *	#define FUNCTIONS(each) each(curl_easy_init) each(curl_easy_perform)
 *	struct http { ... FUNCTIONS(LATE_MEMBER) };
 *	static const struct late_function functions[] = { FUNCTIONS(LATE_IN_HTTP) { 0 } };
 *
 * A library stays open, as what it has begun may not be unmapped. One thread.
 */
#ifndef XAUDIT_TOOL_BASE_LATE_H
#define XAUDIT_TOOL_BASE_LATE_H

#include <stdbool.h>
#include <stddef.h>

#define LATE_MEMBER(name) __typeof__(&name) name;

struct late_function {
	const char *name; /* NULL: behind the last one */
	size_t at;	  /* of its member */
};

/* The row of a function in a struct. */
#define LATE_IN(type, name) { #name, offsetof(type, name) },

struct late_library {
	const char *const *file;    /* names of which the first that can be opened is taken; NULL behind the last one */
	const char *wanted_by;	    /* what needs it, for messages: "--to" */
	const char *name, *package; /* what people call it, and Debian its package */
	const struct late_function *function;
};

/* Opens it, and sets the members of `to`. Returns false after a line, for the command. */
bool late_open(const struct late_library *library, const char *command, void *to);

#endif
