/* SPDX-License-Identifier: MIT */
/* The lists in libc of functions that it will call later: which of them lie in a library that was unloaded? */
#ifndef XAUDIT_TOOL_CHECK_LIBC_LISTS_H
#define XAUDIT_TOOL_CHECK_LIBC_LISTS_H

struct check_process;
struct check_scan;

/* Looks through the lists of the process and of its stopped threads. */
void check_libc_lists(struct check_scan *scan);

/* Forgets what is known of a process's libc; copies it from the parent. */
void check_libc_lists_drop(struct check_process *process);
void check_libc_lists_inherit(struct check_process *process, const struct check_process *parent);

#endif
