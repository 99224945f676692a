/* SPDX-License-Identifier: MIT */
/* load_cost LIBRARY SYMBOL: prints the milliseconds that dlopen takes; the symbol is one of it. */
#include <dlfcn.h>
#include <err.h>
#include <stdio.h>

#include "bench.h"

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "Usage: load_cost LIBRARY SYMBOL");
	double start = bench_ns(CLOCK_MONOTONIC);
	void *library = dlopen(argv[1], RTLD_LAZY);
	double end = bench_ns(CLOCK_MONOTONIC);
	if (!library || !dlsym(library, argv[2]))
		errx(1, "%s", dlerror());
	printf("%.3f\n", (end - start) / 1e6);
	return 0;
}
