/* SPDX-License-Identifier: MIT */
/*
 * A stack of our own for what ld.so's callbacks do at length. They run on threads of the program, whose stacks may have
 * 16 kB; a dlopen takes 8 of them without us, and ours took 5 to 13 more.
 *
 * Each call has a stack for itself: the spare one, else a new one. A stack that is done with becomes the spare one, or
 * is unmapped where there is one. So calls may be nested and concurrent, at exit too; a fork or the end of the thread
 * in between costs one mapping of addresses, little of which was touched.
 *
 * Meanwhile signals are blocked, but for those that the thread's own instructions raise: handlers find each thread on
 * the stack that they know of, and so do collectors that scan the stacks of the threads they stop. Where there is no
 * memory, the function runs on the caller's stack.
 */
#ifndef XAUDIT_ALTSTACK_H
#define XAUDIT_ALTSTACK_H

/* function(argument), with 256 KiB of stack. Any thread; under whatever lock but the process lock. */
void altstack_call(void (*function)(void *), void *argument);

#endif
