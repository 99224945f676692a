/* SPDX-License-Identifier: MIT */
/*
 * Which process we are. Not what getpid() says: children of vfork, of posix_spawn and of clone(CLONE_VM) run in our
 * memory under numbers of their own, mostly with the thread-local data of the thread that made them. So memory that
 * fork wipes (MADV_WIPEONFORK) tells: a forked child finds zeros there, a child that shares the memory finds us.
 *
 * All functions: any thread, async-signal-safe, no libc, no lock. The first call in a process, or in a forked child,
 * notes the process's number; in a forked child the caller may be a task that shares that child's memory: then the
 * task's number is believed to be the process's until the task is gone. identity_init() notes the number for good: a
 * child in a new namespace of processes does not see its parent, and would think it gone.
 */
#ifndef XAUDIT_IDENTITY_H
#define XAUDIT_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#define IDENTITY_SIZE 16

/*
 * zeros: that memory, IDENTITY_SIZE bytes; NULL: maps some. Returns 0, or -errno: then identities are those of
 * getpid(). While there is one thread.
 */
int identity_init(void *zeros);

/* A number of the process, different in each forked child. Never 0. */
uint32_t identity_generation(void);

/*
 * Where who looks from outside finds that number, in forked children too: 0 there until the child has asked for it.
 * NULL: memory that fork wipes is not to be had.
 */
const uint32_t *identity_place(void);

/* The number of the process that has the memory. */
uint32_t identity_pid(void);

/*
 * The calling thread's number, as the kernel knows it; 0: the kernel may not be asked (x86_64/confined.h), and libc
 * does not tell.
 */
uint32_t identity_tid(void);

/* Does the calling thread belong to that process? No: it is a child that shares the memory. */
bool identity_is_ours(void);

/*
 * Has the process no thread of that number any more? No, if the calling thread does not belong to the process: under
 * the caller's process number the kernel knows no thread of the process.
 */
bool identity_thread_is_gone(uint32_t tid);

#endif
