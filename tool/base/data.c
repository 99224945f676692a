/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/base/data.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/base/memory.h"

#ifndef XAUDIT_DATA_DIR
#error "XAUDIT_DATA_DIR: where make install puts such files"
#endif

char *data_path(const char *name)
{
	char exe[4096], *path;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n > 0) {
		exe[n] = '\0';
		*strrchr(exe, '/') = '\0';
		path = memory_format("%s/%s", exe, name);
		if (!access(path, F_OK))
			return path;
		free(path);
	}
	return memory_format("%s/%s", XAUDIT_DATA_DIR, name);
}
