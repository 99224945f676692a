/* SPDX-License-Identifier: MIT */
/*
 * A server of its own: actions_server THREADS REQUESTS SLOW: each thread handles so many requests, numbered by thread
 * and request (1000000 * thread + request); one in SLOW takes 20 ms, the last but ten, too; and 0: none does. Between
 * requests it waits for 100 us. Prints how long a thread was made to wait by the most besides, in us of processor time,
 * and how many waits there were that were not its own.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

int handle_request(int number, int slow);

static int requests, each;
static struct worker {
	pthread_t thread;
	int number;
	long most; /* ns */
	long waits, own;
} worker[16];

static long used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static long waits(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static void *work(void *argument)
{
	struct worker *me = argument;

	for (int i = 1; i <= requests; i++) {
		int slow = each && i % each == 0;
		long before = used(), waited = waits();
		handle_request(me->number * 1000000 + i, slow);
		long took = used() - before;
		/* The first one makes buffers. */
		if (i > 1) {
			me->most = took > me->most ? took : me->most;
			me->waits += waits() - waited;
			me->own += slow;
		}
		usleep(100);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 3 ? atoi(argv[1]) : 0;
	long most = 0, other = 0;

	if (threads < 1 || threads > 16)
		return 2;
	requests = atoi(argv[2]);
	each = atoi(argv[3]);
	for (int i = 0; i < threads; i++) {
		worker[i].number = i + 1;
		if (pthread_create(&worker[i].thread, NULL, work, &worker[i]))
			return 1;
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(worker[i].thread, NULL);
		most = worker[i].most > most ? worker[i].most : most;
		other += worker[i].waits - worker[i].own;
	}
	printf("%ld us, %ld waits\n", most / 1000, other);
	return 0;
}
