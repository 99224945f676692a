/* SPDX-License-Identifier: MIT */
/* Files with holes, read and written by system calls alone. */
#ifndef XAUDIT_RUNTIME_SNAPSHOT_SPARSE_FILE_H
#define XAUDIT_RUNTIME_SNAPSHOT_SPARSE_FILE_H

#include <stdint.h>

struct copy;

/* Where data lie from `at` on: `at` itself, or the end of a hole there; UINT64_MAX: nowhere. */
uint64_t snapshot_data(int fd, uint64_t at);

/* The multiple of `step` from `at` on, which is one, with data before the next one; UINT64_MAX: none. */
static inline uint64_t snapshot_step(int fd, uint64_t at, uint64_t step)
{
	uint64_t data = snapshot_data(fd, at);

	return data == UINT64_MAX ? data : data / step * step;
}

/* How many bytes of the file are in no hole. */
uint64_t snapshot_amount(int fd);

/* Reads as many bytes as there are, up to size; returns their number, or -errno. */
long snapshot_read(int fd, void *to, uint64_t size, uint64_t at);
long snapshot_write(struct copy *c, int fd, const void *from, uint64_t size, uint64_t at);

/* Makes a file of the new folder, open for reading and writing. A descriptor, or -errno. */
long snapshot_make_file(const struct copy *c, const char *name);

/* How large a file may become. */
uint64_t snapshot_size_most(void);

#endif
