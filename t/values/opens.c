/* SPDX-License-Identifier: MIT */
/*
 * Opens 1000 files by open(), openat() and fopen(), of which each third is not there: names of up to 64 bytes, some
 * with characters that are not shown as they are.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	char name[300];

	for (int i = 0; i < 1000; i++) {
		int fd = -1, is_there = i % 3, length = i % 50;
		FILE *file = NULL;

		snprintf(name, sizeof(name), "file%d%s%.*s", i, i % 7 ? "" : "\t\"\\\n\001", length,
			"abcdefghijklmnopqrstuvwxyz0123456789 ABCDEFGHIJKLMN");
		if (is_there) {
			FILE *made = fopen(name, "w");
			if (!made || fclose(made))
				return 1;
		}
		errno = 0;
		if (i % 4 == 0)
			fd = open(name, i % 8 ? O_RDWR | O_APPEND : O_RDONLY | O_CLOEXEC);
		else if (i % 4 == 1)
			fd = openat(AT_FDCWD, name, O_WRONLY | O_CREAT * (i % 8 == 5), 0640);
		else if (i % 4 == 2)
			fd = open64(name, O_WRONLY | O_TRUNC);
		else
			file = fopen(name, "r");
		if (file)
			fclose(file);
		else if (fd >= 0)
			close(fd);
		unlink(name);
	}
	return 0;
}
