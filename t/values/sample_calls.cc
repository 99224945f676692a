/* SPDX-License-Identifier: MIT */
/*
 * Gives and frees memory in all ways, of which t/values/sample.t knows how many blocks of which size there are. Sizes
 * tell the way. Blocks of 3333 bytes stay; those of 2222 bytes are freed by a forked child, and by its parent after it,
 * and nothing is allocated in between.
 */
#include <new>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept[4000];

/* Each keeps blocks for a while, in the order of a ring, and frees them. */
static void cycle(long count, void *(*give)(long))
{
	void *ring[100] = { NULL };

	for (long i = 0; i < count; i++) {
		free(ring[i % 100]);
		ring[i % 100] = give(i);
		if (!ring[i % 100])
			abort();
	}
	for (int i = 0; i < 100; i++)
		free(ring[i]);
}

static void *plain(long)
{
	return malloc(1001);
}

static void *zeroed(long)
{
	return calloc(10, 200);
}

static void *again(long)
{
	return realloc(NULL, 1500);
}

/* A block of 800 bytes becomes one of 3001. */
static void *larger(long)
{
	return realloc(malloc(800), 3001);
}

static void *array(long)
{
	return reallocarray(malloc(801), 30, 120);
}

static void *aligned(long)
{
	return aligned_alloc(64, 4096);
}

static void *aligned_as_any(long)
{
	return aligned_alloc(16, 1600);
}

static void *posix(long)
{
	void *block;

	return posix_memalign(&block, 128, 5000) ? NULL : block;
}

/* What fails is no sample, and frees nothing. */
static void *failing(long i)
{
	void *block = malloc(802), *volatile none;

	if (i % 100)
		return block;
	none = malloc((size_t)-4096);
	if (none || realloc(block, (size_t)1 << 62) || calloc((size_t)1 << 40, (size_t)1 << 40))
		abort();
	return block;
}

/* ---- threads ---- */

#define THREADS 4
#define EACH	20000

static void *handed[THREADS][EACH];
static pthread_barrier_t together;

/* Frees what the thread before has allocated, and one of its own. */
static void *work(void *argument)
{
	long own = (long)argument;

	for (long i = 0; i < EACH; i++)
		handed[own][i] = malloc(900);
	pthread_barrier_wait(&together);
	for (long i = 0; i < EACH; i++)
		free(handed[(own + 1) % THREADS][i]);
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];

	cycle(20000, plain);
	cycle(20000, zeroed);
	cycle(10000, again);
	cycle(10000, larger);
	cycle(10000, array);
	cycle(10000, aligned);
	cycle(10000, aligned_as_any);
	cycle(8000, posix);
	cycle(5000, failing);
	for (int i = 0; i < 10000; i++) {
		char *made = new char[1701];
		made[0] = 1;
		asm volatile("" : : "r"(made) : "memory");
		delete[] made;
	}
	for (int i = 0; i < 2000; i++)
		kept[i] = malloc(3333);
	pthread_barrier_init(&together, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 2000; i < 4000; i++)
		kept[i] = malloc(2222);
	pid_t pid = fork();
	for (int i = 2000; pid >= 0 && i < 4000; i++)
		free(kept[i]);
	if (!pid)
		_exit(0);
	int status = -1;
	return waitpid(pid, &status, 0) == pid ? status != 0 : 2;
}
