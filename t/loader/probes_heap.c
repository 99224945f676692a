/* SPDX-License-Identifier: MIT */
/* Calls the function of probes_many.S, and has the heap grow by 200 MiB; prints its result, and how far it came. */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

unsigned many(unsigned n);

int main(void)
{
	unsigned result = many(5);
	int grown = 0;

	while (grown < 200 && (intptr_t)sbrk(1 << 20) != -1)
		grown++;
	printf("%x %d\n", result, grown);
	return 0;
}
