/* SPDX-License-Identifier: MIT */
/* For tests in C that write to meta of a trace while it is read: the file, mapped. One thread. */
#ifndef XAUDIT_T_LIB_MAPPED_H
#define XAUDIT_T_LIB_MAPPED_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/lib/tap.h"

/* meta of that process, in a trace's folder, and its size. */
static inline char *map_meta(const char *folder, int process, off_t *size)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/p%d/meta", folder, process);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		bail("no %s", path);
	char *meta = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (meta == MAP_FAILED)
		bail("%s can't be mapped", path);
	*size = st.st_size;
	return meta;
}

#endif
