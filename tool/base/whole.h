/* SPDX-License-Identifier: MIT */
/*
 * All of a piece of a file, or of a process's memory: the kernel may read or write a part of it, or be interrupted. Any
 * thread, async-signal-safe.
 */
#ifndef XAUDIT_TOOL_WHOLE_H
#define XAUDIT_TOOL_WHOLE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* Reads at a place, up to the end if that comes before. Returns how much. *error: an errno, or 0. */
static inline size_t whole_read_most(int fd, void *to, size_t size, uint64_t at, int *error)
{
	size_t done = 0;
	ssize_t n = 1;

	while (done < size && n) {
		n = pread(fd, (char *)to + done, size - done, (off_t)(at + done));
		if (n < 0 && errno != EINTR)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	*error = n < 0 ? errno : 0;
	return done;
}

/* False: it can't be read, or ends before. */
static inline bool whole_read(int fd, void *to, size_t size, uint64_t at)
{
	int error;

	return whole_read_most(fd, to, size, at, &error) == size;
}

#define WHOLE_NEXT UINT64_MAX /* the place where the last write has ended */

/* Writes at a place. Returns 0 or an errno. */
static inline int whole_write(int fd, const void *from, size_t size, uint64_t at)
{
	for (size_t done = 0; done < size;) {
		const char *p = (const char *)from + done;
		ssize_t n = at == WHOLE_NEXT ? write(fd, p, size - done)
					     : pwrite(fd, p, size - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : ENOSPC;
		done += (size_t)n;
	}
	return 0;
}

#endif
