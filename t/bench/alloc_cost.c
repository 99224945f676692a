/* SPDX-License-Identifier: MIT */
/*
 * alloc_cost PAIRS DEPTH ROUNDS: pairs of malloc() and free(), so many in each round, at the end of so many calls of a
 * function in each other. Prints the ns that a pair took in the best round, and in the median one.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define ROUNDS_MOST 100

static long pairs;
static int rounds;
static double took[ROUNDS_MOST];

static void __attribute__((noinline)) measure(void)
{
	void *volatile block;

	for (int round = 0; round < rounds; round++) {
		double begin = bench_ns(CLOCK_MONOTONIC);
		for (long i = 0; i < pairs; i++) {
			block = malloc(16 + (size_t)(i & 63));
			free(block);
		}
		took[round] = (bench_ns(CLOCK_MONOTONIC) - begin) / (double)pairs;
	}
}

/* Not inlined, and no loop: it does something after the call. */
static int __attribute__((noinline)) deep(int depth)
{
	if (depth <= 1) {
		measure();
		return 0;
	}
	int below = deep(depth - 1);
	__asm__ volatile("" : "+r"(below));
	return below + 1;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		errx(2, "Usage: alloc_cost PAIRS DEPTH ROUNDS");
	pairs = atol(argv[1]);
	rounds = atoi(argv[3]);
	if (pairs < 1 || rounds < 1 || rounds > ROUNDS_MOST)
		errx(2, "at least 1 pair, and 1 to %d rounds", ROUNDS_MOST);
	deep(atoi(argv[2]));
	qsort(took, (size_t)rounds, sizeof(*took), bench_by_size);
	printf("pair %.1f %.1f\n", took[0], took[(rounds - 1) / 2]);
}
