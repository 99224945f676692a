/* SPDX-License-Identifier: MIT */
/*
 * probe_rounds ROUNDS: a program that others than xaudit can put a probe into, too: at probe_round+4, the middle of a
 * function. Prints "round NS", the best of some runs of so many calls of it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define RUNS 20

/* At probe_round + 4. Neither a NOP nor a push: the kernel has quicker ways with these. */
__asm__("	.text\n"
	"	.p2align 4\n"
	"	.globl	probe_round\n"
	"	.type	probe_round, @function\n"
	"probe_round:\n"
	"	lea	1(%rdi), %rax\n"
	"	lea	3(%rax), %rax\n"
	"	lea	5(%rax), %rax\n"
	"	ret\n"
	"	.size	probe_round, . - probe_round\n");
long probe_round(long x);

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : 1000;
	double best = 0;
	long x = 0;

	for (int i = 0; i < RUNS; i++) {
		double before = bench_ns(CLOCK_MONOTONIC);
		for (long n = 0; n < rounds; n++)
			x = probe_round(x);
		double took = (bench_ns(CLOCK_MONOTONIC) - before) / (double)rounds;
		if (!i || took < best)
			best = took;
	}
	printf("round %.2f\n", best);
	return x != 9 * rounds * RUNS;
}
