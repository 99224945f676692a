/* SPDX-License-Identifier: MIT */
/* The function that is called: as little work as a function can do. Built once per kind, as bench_<NAME>. */
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

unsigned long JOIN(bench_, NAME)(unsigned long a);

unsigned long JOIN(bench_, NAME)(unsigned long a)
{
	return a + 1;
}
