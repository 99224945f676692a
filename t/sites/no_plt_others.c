/* SPDX-License-Identifier: MIT */
/* A piece of the part that is built with a PLT. */
int put(int x);
int other(int x);

int part_others(int n)
{
	return other(n) + put(n);
}
