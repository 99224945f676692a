/* SPDX-License-Identifier: MIT */
/*
 * Callers that are known in advance: threads wait for a mutex on the heap, each by a way of its own, while main() holds
 * it: it goes on when they sleep. Functions are not inlined, and call as the last thing they do only what returns.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sleeps.h"

#define APART __attribute__((noipa)) /* gcc makes neither copies nor parts of it */

static pthread_mutex_t *lock;
static atomic_int tid;

APART static void three(void)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
}

APART static void two(void)
{
	three();
	atomic_signal_fence(memory_order_seq_cst);
}

APART static void left(void)
{
	two();
	atomic_signal_fence(memory_order_seq_cst);
}

APART static void right(void)
{
	two();
	atomic_signal_fence(memory_order_seq_cst);
}

APART static void recurse(int times)
{
	if (times > 1) {
		recurse(times - 1);
	} else {
		pthread_mutex_lock(lock);
		pthread_mutex_unlock(lock);
	}
	atomic_signal_fence(memory_order_seq_cst);
}

APART static void deep(void)
{
	recurse(150);
	atomic_signal_fence(memory_order_seq_cst);
}

APART static int compare(const void *one, const void *other)
{
	if (*(const int *)one == 2)
		three();
	return *(const int *)one - *(const int *)other;
}

APART static void sorted(void)
{
	int numbers[] = { 2, 1 };

	qsort(numbers, 2, sizeof(*numbers), compare);
	atomic_signal_fence(memory_order_seq_cst);
}

APART static void handler(int signal)
{
	(void)signal;
	three();
	atomic_signal_fence(memory_order_seq_cst);
}

APART static void raises(void)
{
	raise(SIGUSR1);
	atomic_signal_fence(memory_order_seq_cst);
}

APART static void *run(void *way)
{
	void (*call)(void);

	memcpy(&call, way, sizeof(call));
	atomic_store(&tid, (int)syscall(SYS_gettid));
	call();
	return NULL;
}

APART static void let_wait(void (*way)(void))
{
	struct timespec time = { 0, 1000000 };
	pthread_t thread;

	atomic_store(&tid, 0);
	pthread_mutex_lock(lock);
	if (pthread_create(&thread, NULL, run, &way))
		abort();
	while (!atomic_load(&tid) || !sleeps(atomic_load(&tid)))
		nanosleep(&time, NULL);
	pthread_mutex_unlock(lock);
	pthread_join(thread, NULL);
}

APART static void first_user(void)
{
	lock = calloc(1, sizeof(*lock));
	three();
	atomic_signal_fence(memory_order_seq_cst);
}

int main(void)
{
	signal(SIGUSR1, handler);
	first_user();
	for (int i = 0; i < 3; i++)
		let_wait(left);
	let_wait(right);
	let_wait(deep);
	let_wait(sorted);
	let_wait(raises);
	free(lock);
	return 0;
}
