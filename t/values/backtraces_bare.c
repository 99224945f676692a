/* SPDX-License-Identifier: MIT */
/* Compiled without unwind information, with frame pointers or without (backtraces.t). */
int bare(int (*function)(int), int n);

int bare(int (*function)(int), int n)
{
	int result = function(n);

	__asm__ volatile("" : : : "memory");
	return result + 1;
}
