/* SPDX-License-Identifier: MIT */
/* Sums of bytes (FNV-1a), where nobody has an interest in two that are equal. Any thread, async-signal-safe. */
#ifndef XAUDIT_RUNTIME_BASE_SUM_H
#define XAUDIT_RUNTIME_BASE_SUM_H

#include <stddef.h>
#include <stdint.h>

#define SUM_NONE 0xcbf29ce484222325u /* of no bytes */

static inline uint64_t sum_add(uint64_t sum, const void *bytes, size_t size)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ p[i]) * 0x100000001b3u;
	return sum;
}

#endif
