/* SPDX-License-Identifier: MIT */
/*
 * Reading a file of a trace that may be compact (format/compact.h), as if it was not. No state of its own: any thread,
 * with files of its own.
 */
#ifndef XAUDIT_TOOL_READ_COMPACT_H
#define XAUDIT_TOOL_READ_COMPACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/compact.h"

struct compact {
	int fd; /* the caller's; may be set anew if the file is opened again */
	bool is; /* compact; else it is read as it is */
	uint64_t size; /* of what it stands for */
	uint64_t parts;
	struct compact_part {
		uint64_t begin, end, at; /* at: where its bytes lie in the file */
	} *part;
};

/* Looks what the file is. Returns 0, or ENOMEM: then there is nothing to close. */
int compact_open(struct compact *file, int fd);
void compact_close(struct compact *file); /* not the descriptor */

/* As whole_read_most(). */
size_t compact_read_most(const struct compact *file, void *to, size_t size, uint64_t at, int *error);

/* False: it can't be read, or ends before. */
bool compact_read(const struct compact *file, void *to, size_t size, uint64_t at);

/* Bytes that it has, or stands for; 0 if that can't be seen. */
uint64_t compact_size(const struct compact *file);

/* Where data lies from there on: `at` itself, or later; UINT64_MAX: nowhere. If holes can't be seen: `at`. */
uint64_t compact_data(const struct compact *file, uint64_t at);

/* Where the data ends that is at `at`; UINT64_MAX: that can't be seen. */
uint64_t compact_hole(const struct compact *file, uint64_t at);

#endif
