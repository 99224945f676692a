/* SPDX-License-Identifier: MIT */
/* What named.c calls. */
void part(void);
void part(void)
{
}
