/* SPDX-License-Identifier: MIT */
/*
 * Pages of code where memory may not become executable: PR_SET_MDWE, the seccomp filter of systemd's
 * MemoryDenyWriteExecute, SELinux. What was writable once stays without execution there, so text that was made writable
 * for a patch would never run again: it is tried on scratch memory before. A filter may kill a process for trying; if
 * the process was started with one, nothing is tried. A filter that the program makes for itself later is no such
 * danger: it allows what tracing is documented to need (xaudit-record(1)), mprotect() among it, no memfd.
 *
 * What works there: writing to text by way of /proc/self/mem, which changes no protection (the kernel makes the private
 * copy of a page); and pages whose content was written into a file before they are mapped, read+execute, by a memfd
 * that is closed at once. No code can write to those.
 *
 * pages_end() replaces whole pages at once: a thread that runs them finds the old pages or the new ones, since mmap()
 * with MAP_FIXED holds the kernel's lock of the mappings from the unmapping on, and other threads' page faults wait for
 * it. An instruction of two pages is fetched again after such a fault.
 *
 * General registers only, no libc, async-signal-safe; one thread at a time for each page (ld.so's lock, or the
 * process lock).
 */
#ifndef XAUDIT_PAGES_H
#define XAUDIT_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * May mprotect() be asked to give PROT_EXEC to pages that were writable? No, if a thread had a seccomp filter at the
 * first call of this, which comes when the process starts. It may refuse later.
 */
bool pages_may_ask(void);

/* May text be made writable, and executable again? Tried on a private page of the program's file. */
bool pages_may_change(void);

/* The process's memory, to be written whatever its protection is: a descriptor for pages_write() and sys_close(), or
 * -errno. */
int pages_open(void);

/* Writes all of it. Returns 0 or -errno. */
long pages_write(int fd, uint64_t address, const void *bytes, size_t size);

/* New content for whole pages. */
struct pages {
	uint64_t low;
	size_t size;
	int fd;
};

/*
 * Begins with the present content of the pages, which must be readable. Returns 0 or -errno: then there is nothing to
 * end.
 */
long pages_begin(struct pages *pages, uint64_t low, size_t size);

/* Puts other bytes to an address in the new content. Returns 0 or -errno. */
long pages_put(const struct pages *pages, uint64_t address, const void *bytes, size_t size);

/* Maps the new content in place of the old, with that protection (PROT_*, without PROT_WRITE). Returns 0 or -errno:
 * then the old stays. */
long pages_end(struct pages *pages, int prot);

/* Frees the new content, and changes nothing. */
void pages_drop(struct pages *pages);

/* Replaces pages by executable ones (r-x) with the same content. Returns 0 or -errno. */
long pages_make_code(uint64_t low, size_t size);

#endif
