/* SPDX-License-Identifier: MIT */
/* Makes CALLS calls into a library, and nothing else. */
unsigned long bench_none(unsigned long a);

int main(void)
{
	unsigned long a = 0;

	for (long i = 0; i < CALLS; i++)
		a = bench_none(a);
	return a != CALLS;
}
