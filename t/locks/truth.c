/* SPDX-License-Identifier: MIT */
/*
 * A correct program that knows what it did: truth ROUNDS. Eight threads take up to three of six locks of all kinds, in
 * one order, or try them in any; each logs when it called, when the call was back, and when it was about to unlock.
 * Prints a JSON array of these: thread, lock, times on CLOCK_MONOTONIC; got: whether it had the lock then.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS 8
#define LOCKS	6

static pthread_mutex_t plain_0 = PTHREAD_MUTEX_INITIALIZER, plain_1 = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t again_2 = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t table_3 = PTHREAD_RWLOCK_INITIALIZER, table_4 = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t waited_5 = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static const char *const names[LOCKS] = { "plain_0", "plain_1", "again_2", "table_3", "table_4", "waited_5" };
static pthread_mutex_t *const mutex[LOCKS] = { &plain_0, &plain_1, &again_2, NULL, NULL, &waited_5 };
static pthread_rwlock_t *const table[LOCKS] = { NULL, NULL, NULL, &table_3, &table_4, NULL };

struct row {
	unsigned lock;
	uint64_t asked, back, let_go;
	bool got;
};

struct thread {
	pthread_t thread;
	int tid;
	uint64_t seed;
	struct row *row;
	long rows, rounds;
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static unsigned any(struct thread *thread, unsigned below)
{
	thread->seed = thread->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((thread->seed >> 33) % below);
}

static struct timespec in_us(long us)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_nsec += us * 1000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

static void work(struct thread *thread)
{
	struct timespec time = { 0, any(thread, 300) * 1000 };

	if (!any(thread, 3))
		nanosleep(&time, NULL);
}

/* how: 0 waits, 1 tries, 2 waits for a while. */
static int take(unsigned lock, unsigned how, bool reads)
{
	struct timespec soon = in_us(100);

	if (mutex[lock])
		return how == 0 ? pthread_mutex_lock(mutex[lock]) :
		       how == 1 ? pthread_mutex_trylock(mutex[lock]) : pthread_mutex_timedlock(mutex[lock], &soon);
	if (reads)
		return how == 0 ? pthread_rwlock_rdlock(table[lock]) :
		       how == 1 ? pthread_rwlock_tryrdlock(table[lock]) :
				  pthread_rwlock_timedrdlock(table[lock], &soon);
	return how == 0 ? pthread_rwlock_wrlock(table[lock]) :
	       how == 1 ? pthread_rwlock_trywrlock(table[lock]) : pthread_rwlock_timedwrlock(table[lock], &soon);
}

static struct row *new_row(struct thread *thread, unsigned lock)
{
	struct row *row = &thread->row[thread->rows++];

	row->lock = lock;
	row->asked = now();
	return row;
}

static struct row *ask(struct thread *thread, unsigned lock, unsigned how)
{
	struct row *row = new_row(thread, lock);
	int error = take(lock, how, any(thread, 2));

	row->back = now();
	row->got = !error;
	if (error && error != EBUSY && error != ETIMEDOUT)
		abort();
	if (!error && lock == 2 && any(thread, 2)) { /* once more, which is the same hold */
		pthread_mutex_lock(mutex[lock]);
		work(thread);
		pthread_mutex_unlock(mutex[lock]);
	}
	return row;
}

/* Returns the hold that goes on when the condition was waited for. */
static struct row *wait_a_while(struct thread *thread, struct row *row)
{
	struct timespec soon = in_us(50 + any(thread, 200));

	row->let_go = now();
	row = new_row(thread, 5);
	pthread_cond_timedwait(&changed, &waited_5, &soon);
	row->back = now();
	row->got = true;
	return row;
}

static void let_go(struct row *row)
{
	if (!row->got)
		return;
	row->let_go = now();
	if (mutex[row->lock] ? pthread_mutex_unlock(mutex[row->lock]) : pthread_rwlock_unlock(table[row->lock]))
		abort();
}

static void *use(void *argument)
{
	struct thread *thread = argument;

	thread->tid = (int)syscall(SYS_gettid);
	for (long i = 0; i < thread->rounds; i++) {
		struct row *first = ask(thread, any(thread, LOCKS - 2), any(thread, 3)), *second, *third;
		work(thread);
		second = ask(thread, first->lock + 1 + any(thread, LOCKS - 2 - first->lock), any(thread, 3));
		/* What has a lower number may only be tried. */
		unsigned last = any(thread, LOCKS);
		while (last == first->lock || last == second->lock)
			last = any(thread, LOCKS);
		third = ask(thread, last, last > second->lock ? 0 : 1);
		work(thread);
		if (last == 5 && third->got && any(thread, 2))
			third = wait_a_while(thread, third);
		if (!any(thread, 4))
			pthread_cond_broadcast(&changed);
		let_go(any(thread, 2) ? third : second);
		if (second->got && !second->let_go)
			let_go(second);
		else if (third->got && !third->let_go)
			let_go(third);
		let_go(first);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct thread thread[THREADS];
	const char *comma = "[";

	for (unsigned i = 0; i < THREADS; i++) {
		thread[i].seed = i + 1;
		thread[i].rounds = argc > 1 ? atol(argv[1]) : 1;
		thread[i].row = calloc((size_t)thread[i].rounds, 4 * sizeof(struct row));
		if (!thread[i].row || pthread_create(&thread[i].thread, NULL, use, &thread[i]))
			return 1;
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i].thread, NULL);
	for (unsigned i = 0; i < THREADS; i++)
		for (const struct row *row = thread[i].row; row < thread[i].row + thread[i].rows; row++) {
			printf("%s{\"tid\":%d,\"lock\":\"%s\",\"asked\":%lu,\"back\":%lu,\"let_go\":%lu,\"got\":%s}",
				comma, thread[i].tid, names[row->lock], row->asked, row->back, row->let_go,
				row->got ? "true" : "false");
			comma = ",\n";
		}
	puts("]");
	return 0;
}
