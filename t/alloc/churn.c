/* SPDX-License-Identifier: MIT */
/*
 * Allocates, reallocates and frees blocks of random sizes, always the same ones, and leaves some; then has a peak,
 * which it frees. In so many threads as the argument says, at the same time; 0: none but the main one. Threads free
 * what others allocated.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#define ROUNDS 20000
#define BLOCKS 512
#define SHARED 64

static _Atomic(void *) shared[SHARED];

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static void *churn(void *seed)
{
	void *block[BLOCKS] = { 0 };
	uint64_t state = (uintptr_t)seed;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t at = next(&state) % BLOCKS, size = 1 + next(&state) % 1000;
		if (block[at] && size % 3 == 0) {
			block[at] = realloc(block[at], size);
		} else {
			/* What another one has put there is freed here. */
			if (size % 3 == 1)
				block[at] = atomic_exchange(&shared[at % SHARED], block[at]);
			free(block[at]);
			block[at] = size % 2 ? malloc(size) : calloc(1, size);
		}
	}
	for (int i = 0; i < BLOCKS; i += 2)
		free(block[i]);
	return NULL;
}

__attribute__((noinline)) static void peak(void)
{
	void *block[100];

	for (int i = 0; i < 100; i++)
		block[i] = malloc(50000);
	for (int i = 0; i < 100; i++)
		free(block[i]);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t thread[16];

	for (int i = 0; i < count && i < 16; i++)
		if (pthread_create(&thread[i], NULL, churn, (void *)(uintptr_t)(i + 1)))
			return 1;
	if (!count)
		churn((void *)1);
	for (int i = 0; i < count && i < 16; i++)
		pthread_join(thread[i], NULL);
	peak();
}
