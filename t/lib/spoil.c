/* SPDX-License-Identifier: MIT */
/*
 * spoil FILE SEED: damages a file in a way that depends on SEED: flips bits, overwrites fields with extreme numbers,
 * cuts the end off, or fills a piece with zeros. Most damage is near the beginning, where the heads are.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/lib/random.h"

static uint64_t state;

static uint64_t number(uint64_t below)
{
	return (random_number(&state) >> 11) % below;
}

static void put(int fd, const void *from, size_t size, uint64_t at)
{
	if (pwrite(fd, from, size, (off_t)at) != (ssize_t)size)
		err(1, "write");
}

int main(int argc, char **argv)
{
	static const uint64_t extreme[] = { 0, 1, 7, 0xff, 0xfff, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32,
		1ull << 62, 1ull << 63, UINT64_MAX, UINT64_MAX - 7 };
	struct stat st;
	int fd;

	if (argc != 3)
		errx(2, "Usage: spoil FILE SEED");
	fd = open(argv[1], O_RDWR);
	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", argv[1]);
	state = strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15u + 1;
	for (int i = 0; i < 8; i++)
		number(2);
	uint64_t size = (uint64_t)st.st_size;
	for (uint64_t times = number(4) + 1; times && size > 8; times--) {
		uint64_t begin = number(3) ? 0 : number(size / 4096 + 1) * 4096;
		if (begin >= size)
			begin = 0;
		uint64_t near = size - begin < 200 ? size - begin : 200;
		uint64_t at = begin + (number(2) ? number(near) : number(size - begin));
		char zeros[512] = { 0 };
		uint8_t byte;
		uint64_t value = extreme[number(sizeof(extreme) / sizeof(*extreme))];

		switch (number(4)) {
		case 0:
			if (pread(fd, &byte, 1, (off_t)at) != 1)
				err(1, "read");
			byte ^= (uint8_t)(1u << number(8));
			put(fd, &byte, 1, at);
			break;
		case 1:
			put(fd, &value, at / 4 * 4 + 8 <= size ? 4 : 1, at / 4 * 4);
			break;
		case 2:
			if (at / 8 * 8 + 8 <= size)
				put(fd, &value, 8, at / 8 * 8);
			break;
		case 3:
			if (number(3)) {
				put(fd, zeros, size - at < 512 ? size - at : 512, at);
			} else {
				if (ftruncate(fd, (off_t)at))
					err(1, "truncate");
				size = at;
			}
			break;
		}
	}
	return 0;
}
