/* SPDX-License-Identifier: MIT */
/*
 * stacks_cost STACKS: so many coroutines with stacks of their own take turns; each calls bench_plt once and gives way.
 * Prints the ns per switch to a coroutine and back: the median of its turns but the first, and the first, when all
 * stacks are new: "SWITCH FIRST".
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "bench.h"

#define STACK (64ul << 10)
#define GUARD 4096ul

unsigned long bench_plt(unsigned long a);

static ucontext_t *coroutine, back;
static volatile int current;

static void run(void)
{
	for (;;) {
		bench_plt(1);
		swapcontext(&coroutine[current], &back);
	}
}

static void make(int i)
{
	char *p = mmap(NULL, STACK + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p, GUARD, PROT_NONE))
		err(1, "stack %d", i);
	p[STACK + GUARD - 1] = 1; /* so that its page is not what is measured */
	getcontext(&coroutine[i]);
	coroutine[i].uc_stack.ss_sp = p + GUARD;
	coroutine[i].uc_stack.ss_size = STACK;
	coroutine[i].uc_link = &back;
	makecontext(&coroutine[i], run, 0);
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0;
	/* 4000 stacks cost the first edition 15 us a switch: few turns for many. */
	int turns = n ? 20000 / n + 4 : 0;
	double *ns = calloc((size_t)turns + 1, sizeof(*ns));

	if (n < 1 || !ns || !(coroutine = calloc((size_t)n, sizeof(*coroutine))))
		errx(2, "Usage: stacks_cost STACKS");
	for (int i = 0; i < n; i++)
		make(i);
	for (int t = 0; t <= turns; t++) {
		double start = bench_ns(CLOCK_MONOTONIC);
		for (current = 0; current < n; current++)
			swapcontext(&back, &coroutine[current]);
		ns[t] = (bench_ns(CLOCK_MONOTONIC) - start) / n;
	}
	qsort(ns + 1, (size_t)turns, sizeof(*ns), bench_by_size);
	printf("%.1f %.1f\n", ns[1 + turns / 2], ns[0]);
	return 0;
}
