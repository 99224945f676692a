/* SPDX-License-Identifier: MIT */
/*
 * What `xaudit locks` is to find: planted WHAT. Threads take turns by what they see of each other's mutexes, so it
 * happens in each run; times are those of sleeps, and can only be longer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sleeps.h"

#define WAITERS 12

pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	long before;
	pthread_mutex_t third;
} in_struct = { 0, PTHREAD_MUTEX_INITIALIZER };
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t tokens;
static atomic_int step, places;

__attribute__((noinline)) static void pause_ms(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static void await(int wanted)
{
	while (atomic_load(&step) < wanted)
		pause_ms(1);
}

static int tids[WAITERS + 1];

/* The thread has come so far that all it does next is to wait. */
static void arrive(void)
{
	tids[atomic_fetch_add(&places, 1)] = (int)syscall(SYS_gettid);
	atomic_fetch_add(&step, 1);
}

/* All that have arrived, beside the first, wait. */
static void await_sleep(int count)
{
	await(count);
	for (int i = 1; i < count; i++)
		while (!sleeps(tids[i]))
			pause_ms(1);
}

struct work {
	void *(*work)(void *);
	void *argument;
	const char *name;
};

static void *run(void *argument)
{
	struct work work = *(struct work *)argument;

	free(argument);
	pthread_setname_np(pthread_self(), work.name);
	return work.work(work.argument);
}

static pthread_t begin(void *(*work)(void *), void *argument, const char *name)
{
	struct work *copy = malloc(sizeof(*copy));
	pthread_t thread;

	*copy = (struct work){ work, argument, name };
	if (pthread_create(&thread, NULL, run, copy))
		abort();
	return thread;
}

/* ---- one holds it 40 ms while 12 wait ---- */

__attribute__((noinline)) void refresh(void)
{
	pthread_mutex_lock(&queue_lock);
	arrive();
	await_sleep(1 + WAITERS);
	pause_ms(40);
	pthread_mutex_unlock(&queue_lock);
}

static void *flush(void *argument)
{
	refresh();
	return argument;
}

__attribute__((noinline)) void take(void)
{
	await(1);
	arrive();
	pthread_mutex_lock(&queue_lock);
	pthread_mutex_unlock(&queue_lock);
}

static void *wait_once(void *argument)
{
	take();
	return argument;
}

static void holder(void)
{
	pthread_t thread[1 + WAITERS];

	thread[0] = begin(flush, NULL, "flusher");
	for (int i = 1; i <= WAITERS; i++)
		thread[i] = begin(wait_once, NULL, "waiter");
	for (int i = 0; i <= WAITERS; i++)
		pthread_join(thread[i], NULL);
}

/* ---- five hold it, to read, while one waits to write ---- */

#define READERS 5

static void *read_table(void *argument)
{
	pthread_rwlock_rdlock(&table_lock);
	atomic_fetch_add(&step, 1);
	/* Until the writer sleeps, the only one who has a place. */
	await(READERS + 1);
	while (!sleeps(tids[0]))
		pause_ms(1);
	pause_ms(*(int *)argument);
	pthread_rwlock_unlock(&table_lock);
	return NULL;
}

static void *write_table(void *argument)
{
	await(READERS);
	arrive();
	pthread_rwlock_wrlock(&table_lock);
	pthread_rwlock_unlock(&table_lock);
	return argument;
}

static void readers(void)
{
	static int ms[READERS] = { 10, 20, 30, 40, 50 };
	pthread_t thread[READERS + 1];

	for (int i = 0; i < READERS; i++)
		thread[i] = begin(read_table, &ms[i], "reader");
	thread[READERS] = begin(write_table, NULL, "writer");
	for (int i = 0; i <= READERS; i++)
		pthread_join(thread[i], NULL);
}

/* ---- one waits for one who waits for one who waits for one ---- */

static void *hold_first(void *argument)
{
	pthread_mutex_lock(&queue_lock);
	arrive();
	await_sleep(4);
	pause_ms(30);
	pthread_mutex_unlock(&queue_lock);
	return argument;
}

static void *want_first(void *argument)
{
	pthread_mutex_lock(&second_lock);
	await(1);
	arrive();
	pthread_mutex_lock(&queue_lock);
	pthread_mutex_unlock(&queue_lock);
	pthread_mutex_unlock(&second_lock);
	return argument;
}

static void *want_second(void *argument)
{
	pthread_mutex_lock(&in_struct.third);
	await_sleep(2);
	arrive();
	pthread_mutex_lock(&second_lock);
	pthread_mutex_unlock(&second_lock);
	pthread_mutex_unlock(&in_struct.third);
	return argument;
}

static void *want_third(void *argument)
{
	await_sleep(3);
	arrive();
	pthread_mutex_lock(&in_struct.third);
	pthread_mutex_unlock(&in_struct.third);
	return argument;
}

static void chain(void)
{
	void *(*const work[])(void *) = { hold_first, want_first, want_second, want_third };
	static const char *const name[] = { "one", "two", "three", "four" };
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		thread[i] = begin(work[i], NULL, name[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

/* ---- two orders, one after the other ---- */

static void *forth(void *gated)
{
	for (int i = 0; i < 3; i++) {
		if (gated)
			pthread_mutex_lock(&gate);
		pthread_mutex_lock(&queue_lock);
		pthread_mutex_lock(&second_lock);
		pthread_mutex_unlock(&second_lock);
		pthread_mutex_unlock(&queue_lock);
		if (gated)
			pthread_mutex_unlock(&gate);
	}
	return NULL;
}

static void *back(void *gated)
{
	if (gated)
		pthread_mutex_lock(&gate);
	pthread_mutex_lock(&second_lock);
	pthread_mutex_lock(&queue_lock);
	pthread_mutex_unlock(&queue_lock);
	pthread_mutex_unlock(&second_lock);
	if (gated)
		pthread_mutex_unlock(&gate);
	return NULL;
}

static void inversion(void *gated)
{
	pthread_join(begin(forth, gated, "forth"), NULL);
	pthread_join(begin(back, gated, "back"), NULL);
}

/* ---- correct use of all kinds of locks, in one order ---- */

static void *use(void *argument)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t *own = malloc(sizeof(*own));
	struct timespec soon;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(own, &attributes);
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&queue_lock);
		pthread_mutex_lock(&second_lock);
		pthread_mutex_lock(own);
		pthread_mutex_lock(own);
		pthread_mutex_unlock(own);
		pthread_mutex_unlock(own);
		pthread_mutex_unlock(&second_lock);
		/* In the other order, but without waiting. */
		if (!pthread_mutex_trylock(&gate)) {
			pthread_mutex_unlock(&queue_lock);
			if (!pthread_mutex_trylock(&queue_lock))
				pthread_mutex_unlock(&queue_lock);
			pthread_mutex_unlock(&gate);
		} else {
			pthread_mutex_unlock(&queue_lock);
		}
		pthread_rwlock_rdlock(&table_lock);
		pthread_rwlock_unlock(&table_lock);
		pthread_rwlock_wrlock(&table_lock);
		pthread_spin_lock(&spin);
		pthread_spin_unlock(&spin);
		pthread_rwlock_unlock(&table_lock);
		sem_wait(&tokens);
		sem_post(&tokens);
	}
	pthread_mutex_lock(&queue_lock);
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_nsec += 2000000;
	soon.tv_sec += soon.tv_nsec / 1000000000;
	soon.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&filled, &queue_lock, &soon);
	pthread_mutex_unlock(&queue_lock);
	pthread_mutex_destroy(own);
	free(own);
	return argument;
}

static void correct(void)
{
	pthread_t thread[4];

	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	sem_init(&tokens, 0, 2);
	for (int i = 0; i < 4; i++)
		thread[i] = begin(use, NULL, "user");
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

/* ---- threads that end with a lock; and two that wait for each other until the process ends ---- */

static void *end_with_lock(void *argument)
{
	pthread_mutex_lock(&in_struct.third);
	return argument;
}

static void *lock_both(void *argument)
{
	pthread_mutex_t *first = argument, *second = first == &queue_lock ? &second_lock : &queue_lock;

	pthread_mutex_lock(first);
	arrive();
	await(2);
	pthread_mutex_lock(second);
	return NULL;
}

static void deadlock(bool killed)
{
	pthread_join(begin(end_with_lock, NULL, "leaver"), NULL);
	begin(lock_both, &queue_lock, "one");
	begin(lock_both, &second_lock, "two");
	await(2);
	while (!sleeps(tids[0]) || !sleeps(tids[1]))
		pause_ms(1);
	pause_ms(10);
	if (killed)
		raise(SIGKILL);
	exit(0);
}

/* ---- as many pairs as one asks for ---- */

static void pairs(long count)
{
	for (long i = 0; i < count; i++) {
		pthread_mutex_lock(&queue_lock);
		pthread_mutex_unlock(&queue_lock);
	}
}

/* ---- two processes ---- */

static void forks(void)
{
	pid_t child = fork();

	pairs(child ? 3 : 5);
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "holder"))
		holder();
	else if (!strcmp(what, "readers"))
		readers();
	else if (!strcmp(what, "chain"))
		chain();
	else if (!strcmp(what, "inversion"))
		inversion(NULL);
	else if (!strcmp(what, "gated"))
		inversion(&gate);
	else if (!strcmp(what, "correct"))
		correct();
	else if (!strcmp(what, "deadlock"))
		deadlock(false);
	else if (!strcmp(what, "killed"))
		deadlock(true);
	else if (!strcmp(what, "forks"))
		forks();
	else if (!strcmp(what, "pairs") && argc > 2)
		pairs(atol(argv[2]));
	else
		return 2;
	return 0;
}
