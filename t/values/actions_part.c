/* SPDX-License-Identifier: MIT */
/* Library of actions.c. */
#include <unistd.h>

/* Fails for each seventh. */
int acts(int n);
int acts(int n)
{
	return n % 7 ? n : -1;
}

/* So many us. */
int slow(int us);
int slow(int us)
{
	if (us)
		usleep((unsigned)us);
	return us;
}

int other(int n);
int other(int n)
{
	return n + 0x10000; /* an entry needs some bytes */
}
