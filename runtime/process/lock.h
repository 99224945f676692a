/* SPDX-License-Identifier: MIT */
/*
 * The word of the process lock (runtime/process/process.h), and of that of process_clock(), which says who holds it.
 *
 * 0: free. Else the number of the holder, as the kernel knows it, and LOCK_AWAITED if others may sleep for it. Who
 * takes the lock after a sleep leaves that bit, since there may be more of them.
 *
 * Left locks. A process that is killed takes its lock along, but not so a task that is killed alone: a child of vfork
 * or clone(CLONE_VM), which shares our memory, or a thread that a filter of system calls ends. So who has slept for
 * long asks the kernel whether the holder is there, and else takes the lock over. What the holder was changing is as it
 * left it: in memory as in a child that was forked at that moment, which goes on from there, too; in the files as where
 * the whole process is killed. So every change under the lock is made in an order in which it may stop anywhere.
 * - The kernel may have given the number to another task, and a task in a namespace of processes of its own knows other
 *   numbers. So where the kernel knows the number, and it is neither a thread of ours nor, as kcmp() says, another task
 *   that has our memory, a waiter waits for longer than a holder needs, and then takes the lock over, too. What is left
 *   is a holder that is stopped for that long in another namespace than the waiter, or where kcmp() is refused.
 * - Under a filter (x86_64/confined.h) nobody can be asked, and waiters don't sleep: that long they wait then.
 *
 * All functions: signals blocked, any thread, async-signal-safe, no libc.
 */
#ifndef XAUDIT_LOCK_H
#define XAUDIT_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#define LOCK_AWAITED (1u << 31)
#define LOCK_SOMEONE (1u << 30) /* the holder's number is not known; the kernel gives none so large */

/* The caller's number, for the functions below. */
uint32_t lock_number(void);

/* Takes the lock if it is free. Returns 1, or 0: then nothing has changed. */
bool lock_try(uint32_t *lock, uint32_t number);

/* As lock_try(); also where the kernel knows that its holder is gone. What that was changing is as it left it. */
bool lock_try_left(uint32_t *lock, uint32_t number);

/* Takes the lock. Returns 1 if it was taken over from a task that is gone, else 0. */
bool lock_take(uint32_t *lock, uint32_t number);

/* Is the caller the holder? No: it was taken for gone. */
bool lock_is_held(const uint32_t *lock, uint32_t number);

/* By its holder. Returns 1 if somebody sleeps for it, else 0. */
int lock_release(uint32_t *lock);

/* Wakes who sleeps for it. */
void lock_wake(uint32_t *lock);

#endif
