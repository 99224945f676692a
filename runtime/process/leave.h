/* SPDX-License-Identifier: MIT */
/*
 * A process that gives up rights leaves its family before that. Then no process that has kept its rights maps what this
 * one stores to, nor this one what those store to. It goes on as another process of the trace, in a family of its own,
 * as if it had been forked at that moment: all that fork would have wiped is wiped, and its next event finds that.
 * Where nobody else has the mapping (it made the family, and has not forked since) it stays. In either case its file is
 * made large before, since it may not be able to open it later.
 *
 * It is told of calls of libc's functions that the program is bound to (audit/bind/nointercept.h), and of syscall(),
 * right before the system call. Not of system calls by an instruction of the program's own; and where other threads
 * have events at that time nothing can be taken from under them: then the process stays, and says so.
 */
#ifndef XAUDIT_RUNTIME_LEAVE_H
#define XAUDIT_RUNTIME_LEAVE_H

#include <stdint.h>

/*
 * call: the system call that the calling thread is about to make, as rights_are_given_up() takes it; or one that may
 * fork, which is noted. Takes the process
 * lock; async-signal-safe, no libc.
 */
void leave_before(const uint32_t call[4]);

#endif
