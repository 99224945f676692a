/* SPDX-License-Identifier: MIT */
/* What the parts of no_plt.t call. */
__attribute__((noinline)) int put(int x)
{
	return x + 1;
}

__attribute__((noinline)) int other(int x)
{
	return x + 2;
}
