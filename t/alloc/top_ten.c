/* SPDX-License-Identifier: MIT */
/* Ten functions allocate, and free, 4 to 13 GB each, in blocks of one size each: what top_ten.t has estimated. */
#include <stdlib.h>

#define GB (1ul << 30)

static __attribute__((noinline)) void pair(unsigned long size)
{
	char *block = malloc(size);

	if (!block)
		abort();
	*(volatile char *)block = 1;
	free(block);
}

#define TEN(X)                                                                                           \
	X(0, 512) X(1, 65536) X(2, 1000) X(3, 4096) X(4, 16384) X(5, 700) X(6, 100000) X(7, 3000) \
	X(8, 8192) X(9, 1500)

#define FUNCTION(n, size)                                                  \
	static __attribute__((noinline)) void top_##n(void)                \
	{                                                                  \
		for (unsigned long i = 0; i < (4 + n) * GB / size; i++) \
			pair(size);                                        \
	}
TEN(FUNCTION)

#define CALL(n, size) top_##n();

int main(void)
{
	TEN(CALL)
	return 0;
}
