/* SPDX-License-Identifier: MIT */
/*
 * Half of a pair of libraries that call each other, for t/calls/tree.t: ME and OTHER are the names of a function here
 * and there. No call binds within its own library, so all between the two go through the PLT.
 */
#define JOIN(a, b)  JOIN_(a, b)
#define JOIN_(a, b) a##b

long JOIN(deep_, OTHER)(long n);
long JOIN(tail_, OTHER)(long n, long sum);
long JOIN(last_, OTHER)(long n);
long JOIN(once_, OTHER)(long n);
long JOIN(deep_, ME)(long n);
long JOIN(tail_, ME)(long n, long sum);
long JOIN(last_, ME)(long n);
long JOIN(once_, ME)(long n);
long JOIN(self_, ME)(long n);
long JOIN(twice_, ME)(long n);

/* n + 1 frames, taking turns. Returns n. */
long JOIN(deep_, ME)(long n)
{
	return n ? JOIN(deep_, OTHER)(n - 1) + 1 : 0;
}

/* n jumps, taking turns, one frame. Returns n + sum. */
long JOIN(tail_, ME)(long n, long sum)
{
	if (!n)
		return sum;
	return JOIN(tail_, OTHER)(n - 1, sum + 1);
}

long JOIN(last_, ME)(long n)
{
	__asm__ volatile("" : "+r"(n));
	return 2 * n;
}

/* Ends by a jump to a function that jumps nowhere. Returns 2 * n + 2. */
long JOIN(once_, ME)(long n)
{
	return JOIN(last_, OTHER)(n + 1);
}

/* n + 1 frames of one function that calls itself through its own PLT. */
__attribute__((noinline)) long JOIN(self_, ME)(long n)
{
	if (!n)
		return 0;
	n = JOIN(self_, ME)(n - 1);
	__asm__ volatile("" : "+r"(n)); /* else it would be a loop */
	return n + 1;
}

/* A call, then a jump: 2 * (n + 1) + 2 * (n + 1) + 2. */
long JOIN(twice_, ME)(long n)
{
	long first = JOIN(once_, OTHER)(n);

	return JOIN(last_, OTHER)(n + 1) + first;
}
