/* SPDX-License-Identifier: MIT */
/*
 * threads_cost THREADS CALLS SIZE: so many threads together make CALLS calls of each of bench_plt, bench_none and
 * bench_limitthreads, which take turns, and print the processor time that a call of each took, in ns: "PLT NONE LIMIT
 * KEPT", means, then the same of a turn that is among the quickest, one in 20. KEPT is bench_limitthreads again, after
 * each of which two words are stored to a memory of SIZE bytes that is the thread's own, from its beginning to its end
 * and again, in pieces that are filled with something else first: what any flight recorder of that size has to do.
 *
 * All begin when all are there, have filled that memory, and a flight recorder of SIZE: so the making of their pages is
 * not counted.
 */
#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define TURN	20000
#define THREADS 1024
#define PIECE	32768 /* words */

unsigned long bench_plt(unsigned long a);
unsigned long bench_none(unsigned long a);
unsigned long bench_limitthreads(unsigned long a);

enum way { PLT, NONE, LIMIT, KEPT, WAYS };

static pthread_barrier_t all_there;
static long turns; /* of each thread, of each way */
static long size;  /* words */
static double *spent[WAYS]; /* by each turn of each thread, ns per call */

/* A call by pointer would not go through the PLT. */
#define CALLS_OF(function)                                                                                             \
	static double calls_of_##function(void)                                                                        \
	{                                                                                                              \
		double start = bench_ns(CLOCK_THREAD_CPUTIME_ID);                                                      \
                                                                                                                       \
		for (int i = 0; i < TURN; i++)                                                                         \
			function(1);                                                                                   \
		return (bench_ns(CLOCK_THREAD_CPUTIME_ID) - start) / TURN;                                             \
	}
CALLS_OF(bench_plt)
CALLS_OF(bench_none)
CALLS_OF(bench_limitthreads)

/* As a function, so that it is one in all turns; at: the next word. */
static __attribute__((noinline)) double kept_calls(volatile unsigned long *memory, long *at)
{
	double start = bench_ns(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < TURN; i++) {
		if (*at % PIECE == 0) {
			*at = *at < size ? *at : 0;
			memset((void *)(memory + *at), i, PIECE * sizeof(*memory));
		}
		bench_limitthreads(1);
		memory[*at] = (unsigned long)i;
		memory[*at + 1] = (unsigned long)i;
		*at += 2;
	}
	return (bench_ns(CLOCK_THREAD_CPUTIME_ID) - start) / TURN;
}

static void *run(void *argument)
{
	long first = (long)argument * turns, at = 0;
	unsigned long *memory = malloc((size_t)size * sizeof(*memory));

	if (!memory)
		err(1, "malloc");
	calls_of_bench_none();
	calls_of_bench_limitthreads();
	for (long done = 0; done <= size; done += 2 * TURN) {
		calls_of_bench_plt();
		kept_calls(memory, &at);
	}
	pthread_barrier_wait(&all_there);
	for (long i = first; i < first + turns; i++) {
		spent[PLT][i] = calls_of_bench_plt();
		spent[NONE][i] = calls_of_bench_none();
		spent[LIMIT][i] = calls_of_bench_limitthreads();
		spent[KEPT][i] = kept_calls(memory, &at);
	}
	free(memory);
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[1]) : 0;
	static pthread_t thread[THREADS];

	if (n < 1 || n > THREADS)
		errx(2, "Usage: threads_cost THREADS CALLS SIZE");
	turns = (atol(argv[2]) / n + TURN - 1) / TURN;
	size = (atol(argv[3]) / (long)sizeof(long) + PIECE - 1) / PIECE * PIECE;
	for (int way = 0; way < WAYS; way++)
		if (!(spent[way] = calloc((size_t)(turns * n), sizeof(double))))
			err(1, "calloc");
	pthread_barrier_init(&all_there, NULL, (unsigned)n);
	for (long i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)i))
			errx(1, "pthread_create");
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	for (int way = 0; way < WAYS; way++) {
		double sum = 0;
		for (long i = 0; i < turns * n; i++)
			sum += spent[way][i];
		printf("%.3f ", sum / (double)(turns * n));
		qsort(spent[way], (size_t)(turns * n), sizeof(double), bench_by_size);
	}
	for (int way = 0; way < WAYS; way++)
		printf("%.3f%c", spent[way][turns * n / 20], way + 1 < WAYS ? ' ' : '\n');
	return 0;
}
