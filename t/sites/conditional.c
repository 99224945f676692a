/* SPDX-License-Identifier: MIT */
/*
 * For t/sites/files.t: clang before 17 makes a conditional tail call of branch() at -Os, and puts the tail sled before
 * the jump.
 */
__attribute__((noinline)) int leaf(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 7;
}

__attribute__((noinline)) int branch(int x)
{
	if (x)
		return leaf(x);
	return 3;
}

void counted(void)
{
	leaf(branch(0) + branch(1));
}
