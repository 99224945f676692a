/* SPDX-License-Identifier: MIT */
/* The library of t/calls/left.t. */
void call_back(void (*function)(void))
{
	function();
	__asm__ volatile("");
}

void leaf(void)
{
	volatile int words[4] = { 0 };

	words[1] = words[0];
}
