/* SPDX-License-Identifier: MIT */
/* The library of t/export/fleet.c. RELEASE: a number, so that its builds differ. */
#include "t/export/fleet.h"

const int fleet_release = RELEASE;
static volatile unsigned spent;

__attribute__((noipa, patchable_function_entry(0, 0))) static void spend(unsigned n)
{
	while (n--)
		spent = spent + 1;
}

__attribute__((noipa)) void parse(unsigned n)
{
	spend(10 + n % 16);
}

__attribute__((noipa)) void query(unsigned n, int slow)
{
	spend((50 + n % 64) * (slow ? 10 : 1));
}

__attribute__((noipa)) void handle(unsigned n, const char *secret, int slow)
{
	(void)secret;
	parse(n);
	parse(n + 1);
	parse(n + 2);
	query(n, slow);
	spend(5);
}
