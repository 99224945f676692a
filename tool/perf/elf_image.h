/* SPDX-License-Identifier: MIT */
/* The ELF image: what stands in the file behind the table, and the header before it. */
#ifndef XAUDIT_TOOL_PERF_ELF_IMAGE_H
#define XAUDIT_TOOL_PERF_ELF_IMAGE_H

#include <stddef.h>
#include <stdint.h>

struct perf_bytes;

struct perf_label {
	uint64_t at;	  /* of its code, in the file */
	uint64_t address; /* that it stands for */
	char *name;
	size_t row, row_size; /* instructions, in the rows; row_size 0: none */
};

/* Writes the image. Returns 0, or an errno. */
int perf_image_write(int fd, const struct perf_label *label, size_t labels, const struct perf_bytes *rows);

#endif
