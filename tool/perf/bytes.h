/* SPDX-License-Identifier: MIT */
/* Bytes that are added to, at the end. */
#ifndef XAUDIT_TOOL_PERF_BYTES_H
#define XAUDIT_TOOL_PERF_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct perf_bytes {
	uint8_t *at;
	size_t size, room;
};
void perf_add(struct perf_bytes *bytes, const void *from, size_t size);
void perf_bytes_free(struct perf_bytes *bytes);

#endif
