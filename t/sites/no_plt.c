/* SPDX-License-Identifier: MIT */
/*
 * no_plt ROUNDS CALLS: calls put() ROUNDS times; ROUNDS times it opens libpart.so, has it make CALLS calls, and closes
 * it, the second half in a child. Prints the sums, and whether all have the same address for put(). no_plt 0: reads
 * numbers, and makes so many calls for each.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int put(int x);

static int (*volatile const mine)(int) = put;

static int use(const char *path, int calls, int *same)
{
	void *part = dlopen(path, RTLD_NOW);
	int sum;

	if (!part) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	int (*(*address)(void))(int) = (int (*(*)(void))(int))dlsym(part, "part_address");
	int (*const *table)(int) = (int (*const *)(int))dlsym(part, "part_table");
	int (*call)(int) = (int (*)(int))dlsym(part, "part_call");
	*same &= address() == mine && *table == mine && put == mine;
	sum = call(calls);
	dlclose(part);
	return sum;
}

static int round_of(int rounds, int calls, int *same)
{
	int sum = 0;

	for (int i = 0; i < rounds; i++) {
		sum += put(i);
		sum += use("./libpart.so", calls, same);
	}
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 0, same = 1, n, status;

	if (!rounds) {
		printf("ready %d\n", (int)getpid());
		fflush(stdout);
		while (scanf("%d", &n) == 1) {
			int sum = 0;
			for (int i = 0; i < n; i++)
				sum += put(i);
			printf("called %d\n", sum);
			fflush(stdout);
		}
		return 0;
	}
	n = round_of(rounds / 2, atoi(argv[2]), &same);
	printf("%d %s\n", n, same ? "same" : "different");
	fflush(stdout);
	pid_t child = fork();
	if (!child) {
		n = round_of(rounds - rounds / 2, atoi(argv[2]), &same);
		printf("%d %s\n", n, same ? "same" : "different");
		fflush(stdout);
		_exit(0);
	}
	return waitpid(child, &status, 0) != child || status;
}
