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

/* Writes where the last write has ended. Returns 0 or an errno. */
static inline int whole_put(int fd, const void *from, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write(fd, (const char *)from + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : ENOSPC;
		done += (size_t)n;
	}
	return 0;
}

/* Writes at a place. Returns 0 or an errno. */
static inline int whole_write(int fd, const void *from, size_t size, uint64_t at)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = pwrite(fd, (const char *)from + done, size - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : ENOSPC;
		done += (size_t)n;
	}
	return 0;
}

#endif
