/* SPDX-License-Identifier: MIT */
/*
 * sample_cost [-c CPU] [-n PAIRS]: prints, for each way to give and free memory, "WAY BEST MEAN", ns a pair: the best
 * of turns of 1000 pairs, and the mean of all.
 *
 *	pair	malloc and free of 64 bytes
 *	zeroed	calloc and free of 64 bytes
 *	larger	malloc of 64 bytes, realloc to 200 and free: three calls
 *	mixed	malloc of 1 to 1024 bytes, and free 100 blocks later
 *	full	pair, while 3 GB are live in 3000 blocks
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "options.h"

#define TURN 1000

static void *volatile sink;

static void pair(void)
{
	void *block = malloc(64);

	sink = block;
	free(block);
}

static void zeroed(void)
{
	void *block = calloc(4, 16);

	sink = block;
	free(block);
}

static void larger(void)
{
	void *block = malloc(64);

	sink = block;
	block = realloc(block, 200);
	sink = block;
	free(block);
}

static void mixed(void)
{
	static void *ring[100];
	static uint32_t n, x = 1;

	x = x * 1664525 + 1013904223;
	free(ring[n % 100]);
	ring[n++ % 100] = malloc(1 + (x >> 22));
}

static void fill(void)
{
	for (int i = 0; i < 3000; i++)
		if (!(sink = malloc(1 << 20)))
			err(1, "malloc");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*call)(void);
	} ways[] = { { "pair", pair }, { "zeroed", zeroed }, { "larger", larger }, { "mixed", mixed },
		{ "full", pair } };
	struct bench_options options = { .calls = 2000000 };

	if (!bench_take_options(&options, argc, argv))
		return 2;
	for (size_t w = 0; w < sizeof(ways) / sizeof(*ways); w++) {
		double best = 1e9, sum = 0;
		if (!strcmp(ways[w].name, "full"))
			fill();
		for (long done = 0; done < options.calls; done += TURN) {
			double start = bench_ns(CLOCK_MONOTONIC);
			for (int i = 0; i < TURN; i++)
				ways[w].call();
			double ns = (bench_ns(CLOCK_MONOTONIC) - start) / TURN;
			best = ns < best ? ns : best;
			sum += ns * TURN;
		}
		printf("%s %.2f %.2f\n", ways[w].name, best, sum / (double)options.calls);
	}
	return 0;
}
