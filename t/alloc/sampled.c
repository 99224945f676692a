/* SPDX-License-Identifier: MIT */
/* Allocates by four stacks, of which t/alloc/sampled.t knows how much; or with an argument by another one, for good. */
#include <stdlib.h>
#include <unistd.h>

#define STACK __attribute__((noinline))

static void *volatile kept;

/* 200000 blocks, 9600000 bytes */
STACK static void small(void)
{
	for (int i = 0; i < 200000; i++) {
		void *block = malloc(48);
		kept = block;
		free(block);
	}
}

/* 20000 blocks, 60000000 bytes */
STACK static void middle(void)
{
	for (int i = 0; i < 20000; i++) {
		void *block = calloc(3, 1000);
		kept = block;
		free(block);
	}
}

/* 5000 blocks, 10000000 bytes, which stay */
STACK static void leak(void)
{
	for (int i = 0; i < 5000; i++)
		kept = malloc(2000);
}

/* 2000 blocks, 100050000 bytes, of which the last one stays: 100000 */
STACK static void grow(void)
{
	void *block = NULL;

	for (int i = 1; i <= 2000; i++) {
		block = realloc(block, (size_t)i * 50);
		kept = block;
	}
}

/* With an argument, this again and again, for good. */
STACK static void work(void)
{
	for (int i = 0; i < 1000; i++) {
		void *block = malloc(240);
		kept = block;
		free(block);
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	while (argc > 1) {
		work();
		usleep(10000);
	}
	small();
	middle();
	leak();
	grow();
	return kept == NULL;
}
