/* SPDX-License-Identifier: MIT */
/*
 * Finds pointers into an unloaded library in the memory of a stopped process, beyond libc's own lists
 * (libc_lists.h). Each aligned word that is an address of the text counts, as a possible pointer. Words in the
 * form of an entry in a list of libc, with its function mangled, are a sure finding, even if the list was not found.
 */
#ifndef XAUDIT_TOOL_CHECK_POINTERS_H
#define XAUDIT_TOOL_CHECK_POINTERS_H

struct check_scan;

void check_pointers(struct check_scan *scan);

#endif
