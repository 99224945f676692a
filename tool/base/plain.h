/* SPDX-License-Identifier: MIT */
/*
 * Opening a file whose path somebody else chose: a trace names objects, a folder holds links, a process has mapped
 * what it likes. To open a device may have an effect of its own (a watchdog begins to count, a tape is wound back), and
 * to open a FIFO lets go who waits to write into it. So the file is looked at before it is opened, by a descriptor that
 * only means it (O_PATH), and what was looked at is what is opened. Any thread, not async-signal-safe. For the reader's
 * library, too: nothing of the command is needed.
 */
#ifndef XAUDIT_TOOL_PLAIN_H
#define XAUDIT_TOOL_PLAIN_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Not blocking: a lease that another process has on the file is an error then, EAGAIN. */
#define PLAIN_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* Opens the file that `known` means, which st describes. */
static inline int plain_open_known(int known, int at, const char *path, const struct stat *st)
{
	char name[32];
	struct stat now;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", known);
	int fd = open(name, PLAIN_FLAGS);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	/* /proc is not there: by its path, where it still is as a rule. */
	fd = openat(at, path, PLAIN_FLAGS);
	if (fd < 0 || (!fstat(fd, &now) && now.st_dev == st->st_dev && now.st_ino == st->st_ino))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

/*
 * Opens a regular file for reading. at, path: as of openat(2); links are followed. Returns a descriptor, or -1 and
 * errno; EINVAL: it is no regular file.
 */
static inline int plain_open(int at, const char *path)
{
	int known = openat(at, path, O_PATH | O_CLOEXEC), fd = -1, error;
	struct stat st;

	if (known < 0)
		return -1;
	if (!fstat(known, &st)) {
		errno = EINVAL;
		if (S_ISREG(st.st_mode))
			fd = plain_open_known(known, at, path, &st);
	}
	error = errno;
	close(known);
	errno = error;
	return fd;
}

#endif
