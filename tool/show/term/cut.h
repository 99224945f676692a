/* SPDX-License-Identifier: MIT */
/*
 * Names of functions that are wider than their room. What tells them apart at a glance is the name of the method, so
 * that stays whole as long as it fits: first arguments, of templates and of functions, lose what is in their middle,
 * the widest ones first; then what stands in front of the method's name goes, from the left; at last its end.
 *	ns::Box<std::vector<int>, unsigned long>::insert(std::vector<int> const&, bool)
 *	ns::Box<std::vecto~igned long>::insert(std::vecto~st&, bool)
 *	ns::Box<~>::insert(~)
 *	~>::insert(~)
 *	insert~
 * A name whose brackets can't be told (cxx_text.h) loses its end. Pure functions.
 */
#ifndef XAUDIT_TOOL_SHOW_TERM_CUT_H
#define XAUDIT_TOOL_SHOW_TERM_CUT_H

#include <stddef.h>
#include <stdio.h>

/* Writes a name that takes more columns than `room`, which is more than the ellipsis takes, in at most so many. */
void cut_name(FILE *to, const char *name, size_t length, size_t room, const char *ellipsis);

#endif
