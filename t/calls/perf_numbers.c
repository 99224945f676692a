/* SPDX-License-Identifier: MIT */
/* Numbers as DWARF writes them, above all where one more byte begins. */
#include "tool/perf/leb128.h"

#include "t/lib/tap.h"

/* The examples of DWARF 5, section 7.6, and the numbers on both sides of each limit. */
static const struct {
	int64_t n;
	unsigned size;
	uint8_t byte[10];
} is_signed[] = {
	{ 0, 1, { 0x00 } },
	{ 2, 1, { 0x02 } },
	{ -2, 1, { 0x7e } },
	{ 63, 1, { 0x3f } },
	{ 64, 2, { 0xc0, 0x00 } },
	{ 127, 2, { 0xff, 0x00 } },
	{ 128, 2, { 0x80, 0x01 } },
	{ 129, 2, { 0x81, 0x01 } },
	{ -1, 1, { 0x7f } },
	{ -64, 1, { 0x40 } },
	{ -65, 2, { 0xbf, 0x7f } },
	{ -127, 2, { 0x81, 0x7f } },
	{ -128, 2, { 0x80, 0x7f } },
	{ -129, 2, { 0xff, 0x7e } },
	{ 8191, 2, { 0xff, 0x3f } },
	{ 8192, 3, { 0x80, 0xc0, 0x00 } },
	{ -8192, 2, { 0x80, 0x40 } },
	{ -8193, 3, { 0xff, 0xbf, 0x7f } },
	{ INT64_MAX, 10, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00 } },
	{ INT64_MIN, 10, { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f } },
};

static const struct {
	uint64_t n;
	unsigned size;
	uint8_t byte[10];
} is_unsigned[] = {
	{ 0, 1, { 0x00 } },
	{ 2, 1, { 0x02 } },
	{ 63, 1, { 0x3f } },
	{ 64, 1, { 0x40 } },
	{ 127, 1, { 0x7f } },
	{ 128, 2, { 0x80, 0x01 } },
	{ 129, 2, { 0x81, 0x01 } },
	{ 16383, 2, { 0xff, 0x7f } },
	{ 16384, 3, { 0x80, 0x80, 0x01 } },
	{ UINT64_MAX, 10, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 } },
};

#define COUNT(of) (sizeof(of) / sizeof(*(of)))

static int is_written(const struct perf_bytes *got, const uint8_t *byte, unsigned size)
{
	return got->size == size && !memcmp(got->at, byte, size);
}

int main(void)
{
	for (unsigned i = 0; i < COUNT(is_signed); i++) {
		struct perf_bytes to = { 0 };
		leb128_add_signed(&to, is_signed[i].n);
		ok(is_written(&to, is_signed[i].byte, is_signed[i].size), "signed: %lld takes %u bytes",
			(long long)is_signed[i].n, is_signed[i].size);
		perf_bytes_free(&to);
	}
	for (unsigned i = 0; i < COUNT(is_unsigned); i++) {
		struct perf_bytes to = { 0 };
		leb128_add_unsigned(&to, is_unsigned[i].n);
		ok(is_written(&to, is_unsigned[i].byte, is_unsigned[i].size), "unsigned: %llu takes %u bytes",
			(unsigned long long)is_unsigned[i].n, is_unsigned[i].size);
		perf_bytes_free(&to);
	}
	struct perf_bytes to = { 0 };
	leb128_add_unsigned(&to, 128);
	leb128_add_signed(&to, -65);
	ok(is_written(&to, (const uint8_t[]){ 0x80, 0x01, 0xbf, 0x7f }, 4), "numbers are added behind others");
	perf_bytes_free(&to);
	return done_testing();
}
