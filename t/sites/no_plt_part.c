/* SPDX-License-Identifier: MIT */
/* Calls put() n times and jumps to it once, and takes its address in two ways; other() may be called by a PLT. */
int put(int x);
int other(int x);

int (*const part_table)(int) = put;

int (*part_address(void))(int)
{
	return put;
}

__attribute__((noinline)) int part_jump(int x)
{
	return put(x);
}

/* A loop would keep the address in a register. */
__attribute__((noinline)) int part_one(int x)
{
	return put(x) + 1;
}

#ifndef OTHERS
int part_others(int n)
{
	return other(n);
}
#else
int part_others(int n);
#endif

int part_call(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += part_one(i);
	return sum + part_jump(1) + part_others(n);
}
