/* SPDX-License-Identifier: MIT */
/*
 * Memory for a file that a thread is about to fill. In tmpfs a write takes new memory page by page, which costs more
 * than the copying; so a large page at a time is made before (MADV_COLLAPSE, Linux 6.1), by way of a mapping of the
 * file that nobody stores to, and that is there for the moment. What the file holds and how long it is stays the same:
 * a reader notices nothing, and a write that finds no large page goes as ever. Where the kernel refuses, or takes
 * longer than is gained (it may have to move pages, or wait for memory of a virtual machine's host, and always waits
 * for the other processors, which may be busy), it is not asked again for a while; for longer and longer if that comes
 * again.
 *
 * No large page is made where the process's address space is limited, where little is free in the file system, or
 * where real-time threads may have a processor for ever; nor at the beginning of a file, so that what it never fills is
 * small beside what it holds.
 *
 * The caller alone writes to that part of the file. Signals blocked, no lock, async-signal-safe, no libc. Another
 * thread's fork that comes between two system calls leaves the mapping to the child, which is some addresses, and the
 * file as long as the child lives.
 */
#ifndef XAUDIT_AHEAD_H
#define XAUDIT_AHEAD_H

#include <stdint.h>

#define AHEAD_LARGE (2ul << 20) /* bytes of a large page */
#define AHEAD_FROM  (8ul << 20) /* bytes that a file has at least */

/*
 * `size` bytes at `at` are about to be written, where nothing has been written: makes the large pages that begin there.
 */
void ahead_make(int fd, uint64_t at, uint64_t size);

/* May there be one that begins before `end` and ends after it? */
int ahead_reaches(uint64_t end);

/* Nothing will be written from `end` on: gives back what was made there. */
void ahead_trim(int fd, uint64_t end);

#endif
