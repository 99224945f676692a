/* SPDX-License-Identifier: MIT */
/* Locks of all kinds, and all that their functions may answer, in known numbers; ends with 1 where one answers else. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static mtx_t c_plain, c_timed, c_again;
static cnd_t c_filled;
static pthread_mutex_t robust, checked, adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t empty;

#define IS(call, result)                                                        \
	do {                                                                    \
		int is = (call);                                                \
		if (is != (result)) {                                           \
			printf("%s is %d, not %d\n", #call, is, (int)(result)); \
			exit(1);                                                \
		}                                                               \
	} while (0)

static struct timespec *soon(clockid_t clock)
{
	static struct timespec time;

	clock_gettime(clock, &time);
	time.tv_nsec += 3000000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return &time;
}

/* While main() holds all of them. */
static void *ask(void *argument)
{
	IS(mtx_trylock(&c_plain), thrd_busy);
	IS(mtx_timedlock(&c_timed, soon(CLOCK_REALTIME)), thrd_timedout);
	IS(pthread_mutex_clocklock(&checked, CLOCK_MONOTONIC, soon(CLOCK_MONOTONIC)), ETIMEDOUT);
	IS(pthread_mutex_unlock(&checked), EPERM);
	IS(pthread_rwlock_timedrdlock(&table, soon(CLOCK_REALTIME)), ETIMEDOUT);
	IS(pthread_rwlock_timedwrlock(&table, soon(CLOCK_REALTIME)), ETIMEDOUT);
	IS(pthread_rwlock_clockrdlock(&table, CLOCK_MONOTONIC, soon(CLOCK_MONOTONIC)), ETIMEDOUT);
	IS(pthread_rwlock_clockwrlock(&table, CLOCK_MONOTONIC, soon(CLOCK_MONOTONIC)), ETIMEDOUT);
	IS(pthread_rwlock_tryrdlock(&table), EBUSY);
	IS(pthread_rwlock_trywrlock(&table), EBUSY);
	IS(pthread_spin_trylock(&spin), EBUSY);
	IS(sem_timedwait(&empty, soon(CLOCK_REALTIME)), -1);
	IS(sem_clockwait(&empty, CLOCK_MONOTONIC, soon(CLOCK_MONOTONIC)), -1);
	IS(sem_trywait(&empty), -1);
	IS(pthread_mutex_lock(&robust), 0); /* and ends with it */
	return argument;
}

static void init(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attributes);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checked, &attributes);
	mtx_init(&c_plain, mtx_plain);
	mtx_init(&c_timed, mtx_timed);
	mtx_init(&c_again, mtx_plain | mtx_recursive);
	cnd_init(&c_filled);
	sem_init(&empty, 0, 0);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
}

int main(void)
{
	pthread_t thread;

	init();
	for (int i = 0; i < 5; i++) {
		IS(mtx_lock(&c_plain), thrd_success);
		IS(mtx_unlock(&c_plain), thrd_success);
		IS(pthread_mutex_lock(&adaptive), 0);
		IS(pthread_mutex_unlock(&adaptive), 0);
	}
	IS(mtx_lock(&c_plain), thrd_success);
	IS(mtx_lock(&c_timed), thrd_success);
	IS(pthread_mutex_lock(&checked), 0);
	IS(pthread_mutex_lock(&checked), EDEADLK);
	IS(pthread_rwlock_wrlock(&table), 0);
	IS(pthread_rwlock_rdlock(&table), EDEADLK);
	IS(pthread_spin_lock(&spin), 0);
	pthread_create(&thread, NULL, ask, NULL);
	pthread_join(thread, NULL);
	IS(pthread_mutex_lock(&robust), EOWNERDEAD);
	IS(pthread_mutex_consistent(&robust), 0);
	IS(pthread_mutex_unlock(&robust), 0);
	IS(pthread_spin_unlock(&spin), 0);
	IS(pthread_rwlock_unlock(&table), 0);
	IS(pthread_mutex_unlock(&checked), 0);
	IS(mtx_unlock(&c_timed), thrd_success);
	IS(cnd_timedwait(&c_filled, &c_plain, soon(CLOCK_REALTIME)), thrd_timedout);
	IS(mtx_unlock(&c_plain), thrd_success);
	for (int i = 0; i < 3; i++) {
		IS(mtx_lock(&c_again), thrd_success);
		IS(mtx_trylock(&c_again), thrd_success);
		IS(mtx_unlock(&c_again), thrd_success);
		IS(mtx_unlock(&c_again), thrd_success);
	}
	mtx_destroy(&c_plain);
	cnd_destroy(&c_filled);
	return 0;
}
