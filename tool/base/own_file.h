/* SPDX-License-Identifier: MIT */
/* Is a file that was opened for other processes, or in their place, what it should be? Any thread. */
#ifndef XAUDIT_TOOL_BASE_OWN_FILE_H
#define XAUDIT_TOOL_BASE_OWN_FILE_H

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* A plain file of our own that has no other name. Returns fd, or closes it and returns -EPERM; an error as it is. */
static inline long own_file(long fd, struct stat *st)
{
	if (fd < 0)
		return fd;
	if (!fstat((int)fd, st) && S_ISREG(st->st_mode) && st->st_uid == geteuid() && st->st_nlink == 1)
		return fd;
	close((int)fd);
	return -EPERM;
}

#endif
