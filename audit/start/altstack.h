/* SPDX-License-Identifier: MIT */
/*
 * A stack of our own for those callbacks of ld.so that need much stack. They run on threads of the program, whose
 * stacks may be as small as 16 kB; a dlopen uses 8 kB without us, and our code used 5 to 13 kB more.
 *
 * Each call has a stack for itself: the spare one, or a new one. After the call the stack becomes the spare one, or is
 * unmapped if there is a spare one already. So calls may be nested and concurrent, at exit too. If the process forks or
 * the thread ends during a call, one mapping is lost, of which few pages were touched.
 *
 * During the call signals are blocked, except those that the thread's own instructions raise: so handlers find each
 * thread on the stack that they know of, and so do garbage collectors that scan the stacks of the threads they stop.
 * Without memory for a stack, the function runs on the caller's.
 */
#ifndef XAUDIT_ALTSTACK_H
#define XAUDIT_ALTSTACK_H

/* Calls function(argument) with 256 KiB of stack. Any thread; under any lock except the process lock. */
void altstack_call(void (*function)(void *), void *argument);

#endif
