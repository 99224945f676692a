/* SPDX-License-Identifier: MIT */
/* The library of t/calls/gdb.t: calls back into the program, through as many frames as asked. */
int step(int depth, int (*back)(int))
{
	int r = back(depth - 1);

	return r + 1;
}

int fall(volatile int *address)
{
	*address = 1;
	return *address;
}
