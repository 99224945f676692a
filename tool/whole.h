/* SPDX-License-Identifier: MIT */
/*
 * All of a piece of a file, or of a process's memory, at its place: the kernel may read or write a part of it, or be
 * interrupted. Any thread, async-signal-safe.
 */
#ifndef XAUDIT_TOOL_WHOLE_H
#define XAUDIT_TOOL_WHOLE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* False: it can't be read, or ends before. */
static inline bool whole_read(int fd, void *to, size_t size, uint64_t at)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = pread(fd, (char *)to + done, size - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

/* Returns 0 or an errno. */
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
