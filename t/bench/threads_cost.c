/* SPDX-License-Identifier: MIT */
/*
 * threads_cost THREADS CALLS: so many threads together make CALLS calls of bench_plt and as many of bench_none, and
 * print the processor time that each of both took, in ns: "PLT NONE". All begin when all are there and have made some.
 */
#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define TURN 20000

unsigned long bench_plt(unsigned long a);
unsigned long bench_none(unsigned long a);

static pthread_barrier_t all_there;
static long each;

struct spent {
	double plt, none;
};

/* A call by pointer would not go through the PLT. */
#define CALLS_OF(function)                                                                                             \
	static double calls_of_##function(void)                                                                        \
	{                                                                                                              \
		double start = bench_ns(CLOCK_THREAD_CPUTIME_ID); \
                                                                                                                       \
		for (int i = 0; i < TURN; i++)                                                                         \
			function(1);                                                                                   \
		return bench_ns(CLOCK_THREAD_CPUTIME_ID) - start; \
	}
CALLS_OF(bench_plt)
CALLS_OF(bench_none)

static void *run(void *argument)
{
	struct spent *spent = argument;

	calls_of_bench_plt();
	calls_of_bench_none();
	pthread_barrier_wait(&all_there);
	for (long done = 0; done < each; done += TURN) {
		spent->plt += calls_of_bench_plt();
		spent->none += calls_of_bench_none();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[1]) : 0;
	static struct spent spent[1024];
	static pthread_t thread[1024];
	double plt = 0, none = 0;

	if (n < 1 || n > 1024)
		errx(2, "Usage: threads_cost THREADS CALLS");
	each = (atol(argv[2]) / n + TURN - 1) / TURN * TURN;
	pthread_barrier_init(&all_there, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, run, &spent[i]))
			errx(1, "pthread_create");
	for (int i = 0; i < n; i++) {
		pthread_join(thread[i], NULL);
		plt += spent[i].plt;
		none += spent[i].none;
	}
	printf("%.3f %.3f\n", plt / (double)(each * n), none / (double)(each * n));
	return 0;
}
