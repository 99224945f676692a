/* SPDX-License-Identifier: MIT */
/* The library of t/calls/leaving.t; built with -fexceptions. */
void f_down(int depth, void (*function)(int))
{
	function(depth);
	__asm__ volatile("");
}

void f_leaf(void)
{
	__asm__ volatile("");
}
