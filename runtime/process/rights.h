/* SPDX-License-Identifier: MIT */
/*
 * Does a process give up rights? Its ids and capabilities are asked of the kernel each time. Any thread,
 * async-signal-safe, no libc; not under a filter (x86_64/confined.h).
 */
#ifndef XAUDIT_RUNTIME_RIGHTS_H
#define XAUDIT_RUNTIME_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * call: the number of a system call, which the process is about to make, and its first three arguments. May the
 * process have fewer rights then, so that it can't have them back; or see another root, in which it may not find its
 * trace any more? An exchange of ids that keeps the old ones among the three is none.
 */
bool rights_are_given_up(const uint32_t call[4]);

#endif
