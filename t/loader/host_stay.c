/* SPDX-License-Identifier: MIT */
/* The library of t/loader/host.t that stays. */
void counted(void)
{
	__asm__ volatile("");
}

void within_child(void)
{
	__asm__ volatile("");
}
