/* SPDX-License-Identifier: MIT */
/* Which prototype a function of a library has: they are told of functions of libraries (prototype.h). Keeps nothing. */
#ifndef XAUDIT_TOOL_VALUES_LIBRARY_H
#define XAUDIT_TOOL_VALUES_LIBRARY_H

struct prototype;
struct prototypes;

/*
 * The prototype of a function of a library (soname, or the file's name), by this name, or as another name of what is
 * there: open64, __open. NULL: it is not known. Valid until more is read.
 */
const struct prototype *library_prototype(const struct prototypes *of, const char *function, const char *library);

#endif
