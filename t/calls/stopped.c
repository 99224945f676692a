/* SPDX-License-Identifier: MIT */
/* The program of t/calls/gdb.t: crashes, or waits to be stopped, below four calls of its library. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

int step(int depth, int (*back)(int));
int fall(volatile int *address);

static const char *end;

int ending(int depth)
{
	if (depth > 0)
		return step(depth, ending) + 1;
	if (!strcmp(end, "crash"))
		return fall(NULL) + 1;
	printf("reached %d\n", depth);
	return 1;
}

static void *run(void *argument)
{
	return (void *)(long)step(*(int *)argument, ending);
}

int main(int argc, char **argv)
{
	int depth = 4;
	pthread_t thread;
	void *result = NULL;

	end = argc > 1 ? argv[1] : "come back";
	if (argc > 2) {
		pthread_create(&thread, NULL, run, &depth);
		pthread_join(thread, &result);
	} else {
		result = run(&depth);
	}
	printf("result %ld\n", (long)result);
	return 0;
}
