/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/index/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/plain.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

#define MOST (1u << 30) /* of somebody else's file: it goes into our memory */

int own_open(const char *path)
{
	int fd = plain_open(AT_FDCWD, path);

	return fd >= 0 ? fd : errno == EINVAL ? -ENOEXEC : -errno;
}

static int open_memory(void)
{
	int fd = memfd_create("xaudit", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	/* Before Linux 6.3. */
	return fd < 0 && errno == EINVAL ? memfd_create("xaudit", MFD_CLOEXEC) : fd;
}

/* Copies what is there; what was cut off meanwhile is zeros. Returns 0 or -errno. */
static int copy(int to, int from, off_t size)
{
	off_t at = 0;
	ssize_t n = 1;

	if (ftruncate(to, size))
		return -errno;
	while (at < size && n > 0)
		n = sendfile(to, from, &at, (size_t)(size - at));
	return n < 0 ? -errno : 0;
}

static bool has_owner(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

static bool is_ours(const struct stat *st)
{
	return has_owner(st) && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

bool own_is(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && is_ours(&st);
}

bool own_is_path(const char *path)
{
	char *folder = memory_text(path, strlen(path));
	bool ours = *path == '/';
	struct stat st;

	for (char *slash; ours && (slash = strrchr(folder, '/'));) {
		slash[slash == folder] = '\0';
		ours = !lstat(folder, &st) && S_ISDIR(st.st_mode) && has_owner(&st) &&
		       (!(st.st_mode & (S_IWGRP | S_IWOTH)) || st.st_mode & S_ISVTX);
		if (slash == folder)
			break;
	}
	free(folder);
	return ours;
}

int own_copy(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	/* What is too large for a copy, and its owner's group may change, is read where it is all the same. */
	if (is_ours(&st) || (has_owner(&st) && st.st_size > MOST)) {
		int same = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		return same < 0 ? -errno : same;
	}
	if (st.st_size > MOST)
		return -EFBIG;
	int memory = open_memory(), r = memory < 0 ? -errno : copy(memory, fd, st.st_size);
	if (!r)
		return memory;
	if (memory >= 0)
		close(memory);
	return r;
}
