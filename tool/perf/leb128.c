/* SPDX-License-Identifier: MIT */
#include "tool/perf/leb128.h"

static void add_byte(struct perf_bytes *to, unsigned byte)
{
	perf_add(to, &(uint8_t){ (uint8_t)byte }, 1);
}

void leb128_add_unsigned(struct perf_bytes *to, uint64_t n)
{
	for (; n > 0x7f; n >>= 7)
		add_byte(to, 0x80 | (n & 0x7f));
	add_byte(to, (unsigned)n);
}

void leb128_add_signed(struct perf_bytes *to, int64_t n)
{
	for (; n < -64 || n > 63; n >>= 7)
		add_byte(to, 0x80 | ((unsigned)n & 0x7f));
	add_byte(to, (unsigned)n & 0x7f);
}
