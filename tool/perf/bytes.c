/* SPDX-License-Identifier: MIT */
#include "tool/perf/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

void perf_add(struct perf_bytes *bytes, const void *from, size_t size)
{
	if (size > bytes->room - bytes->size) {
		bytes->room = 2 * (bytes->size + size);
		bytes->at = memory_resize(bytes->at, bytes->room, 1);
	}
	if (size)
		memcpy(bytes->at + bytes->size, from, size);
	bytes->size += size;
}

void perf_bytes_free(struct perf_bytes *bytes)
{
	free(bytes->at);
	*bytes = (struct perf_bytes){ 0 };
}
