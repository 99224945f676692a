/* SPDX-License-Identifier: MIT */
/*
 * start_cost ROUNDS PROGRAM -- NAME [VARIABLE=VALUE]... [-- NAME [VARIABLE=VALUE]...]...: runs the program
 * ROUNDS times for each NAME, with these variables added to the environment, and prints "NAME MINIMUM MEDIAN",
 * the microseconds from posix_spawn to the end of waitpid. The variants take turns.
 */
#define _GNU_SOURCE
#include <err.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench.h"

#define VARIANTS  8
#define VARIABLES 8

struct variant {
	const char *name;
	char **environment;
	double *us;
};

extern char **environ;

static double now_us(void)
{
	return bench_ns(CLOCK_MONOTONIC) / 1e3;
}

static double run(char *program, char **environment)
{
	char *argv[] = {program, NULL};
	int status, e;
	pid_t pid;

	double start = now_us();
	if ((e = posix_spawn(&pid, program, NULL, NULL, argv, environment)))
		errx(1, "%s: %s", program, strerror(e));
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	double end = now_us();
	if (status)
		errx(1, "%s ended with status %#x", program, (unsigned)status);
	return end - start;
}

static void *allocate(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		err(1, "calloc");
	return p;
}

int main(int argc, char **argv)
{
	struct variant variant[VARIANTS];
	int rounds = argc > 1 ? atoi(argv[1]) : 0, count = 0, inherited = 0;

	if (rounds < 1 || argc < 5)
		errx(2, "Usage: start_cost ROUNDS PROGRAM -- NAME [VARIABLE=VALUE]...");
	while (environ[inherited])
		inherited++;
	for (int i = 3; i < argc; count++) {
		if (count == VARIANTS || strcmp(argv[i++], "--") || i == argc)
			errx(2, "each of at most %d variants is -- NAME [VARIABLE=VALUE]...", VARIANTS);
		struct variant *v = &variant[count];
		int n = inherited;
		v->name = argv[i++];
		v->us = allocate((size_t)rounds, sizeof(*v->us));
		v->environment = allocate((size_t)inherited + VARIABLES + 1, sizeof(char *));
		memcpy(v->environment, environ, (size_t)inherited * sizeof(char *));
		for (; i < argc && strcmp(argv[i], "--"); i++) {
			if (n == inherited + VARIABLES)
				errx(2, "more than %d variables for %s", VARIABLES, v->name);
			v->environment[n++] = argv[i];
		}
	}
	for (int i = 0; i < count; i++)
		run(argv[2], variant[i].environment);
	for (int r = 0; r < rounds; r++)
		for (int i = 0; i < count; i++)
			variant[i].us[r] = run(argv[2], variant[i].environment);
	for (int i = 0; i < count; i++) {
		double *us = variant[i].us;
		qsort(us, (size_t)rounds, sizeof(*us), bench_by_size);
		printf("%s %.1f %.1f\n", variant[i].name, us[0], us[rounds / 2]);
	}
	return 0;
}
