/* SPDX-License-Identifier: MIT */
/* Library of hangs.c. */
#include <unistd.h>

int other(int n);
int other(int n)
{
	return n + 0x10000; /* an entry needs some bytes */
}

/* Calls do_it, which may never return. */
int work(int n, void (*do_it)(int n));
int work(int n, void (*do_it)(int n))
{
	do_it(n);
	return other(n);
}
