/* SPDX-License-Identifier: MIT */
/* Makes 100 million calls into a library, and nothing else. */
unsigned long bench_none(unsigned long a);

int main(void)
{
	unsigned long a = 0;

	for (long i = 0; i < 100000000; i++)
		a = bench_none(a);
	return a != 100000000;
}
