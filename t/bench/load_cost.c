/* SPDX-License-Identifier: MIT */
/* load_cost LIBRARY SYMBOL: prints the milliseconds that dlopen takes; the symbol is one of it. */
#include <dlfcn.h>
#include <err.h>
#include <stdio.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct timespec start, end;

	if (argc != 3)
		errx(2, "Usage: load_cost LIBRARY SYMBOL");
	clock_gettime(CLOCK_MONOTONIC, &start);
	void *library = dlopen(argv[1], RTLD_LAZY);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (!library || !dlsym(library, argv[2]))
		errx(1, "%s", dlerror());
	printf("%.3f\n", 1e3 * (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e6);
	return 0;
}
