/* SPDX-License-Identifier: MIT */
/*
 * Calls in known numbers, for tests of actions: actions WAY [N].
 *
 *	calls N		acts(1) ... acts(N), with other() before each
 *	bursts		acts() 100 times, then 400 ms nothing, three times
 *	fork		acts(1) ... acts(10), then the same in a forked child
 *	threads		acts(1) ... acts(1000) in one thread, then other() 1000 times in another one, while the first
 *			waits, then acts(1001) ... acts(2000) in the first, in whose place a third comes then: other()
 *			10 times
 *	again N		N threads, one after another: acts(100) and other() 10 times each
 *	slow N		slow() N times: each tenth takes 20 ms, the others nothing
 *	beside PATH	acts() each millisecond, while a child executes `actions calls 1`; ends when that one has a
 *			snapshot, PATH.snapshot.* with its number in it, or with status 5 after 5 s
 */
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int acts(int n);
int slow(int us);
int other(int n);

static pthread_barrier_t barrier;

static void act(int from, int to)
{
	for (int i = from; i <= to; i++)
		acts(i);
}

static void *first(void *unused)
{
	act(1, 1000);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	act(1001, 2000);
	return unused;
}

static void *second(void *unused)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 1000; i++)
		other(i);
	pthread_barrier_wait(&barrier);
	return unused;
}

static void *third(void *number)
{
	if (number)
		acts(100);
	for (int i = 0; i < 10; i++)
		other(i);
	return NULL;
}

static int fork_and_act(void)
{
	int status = 1;
	pid_t child;

	act(1, 10);
	child = fork();
	if (!child) {
		act(1, 10);
		_exit(0);
	}
	return child < 0 || waitpid(child, &status, 0) != child || status;
}

static int run_threads(void)
{
	pthread_t a, b, c;

	if (pthread_barrier_init(&barrier, NULL, 2) || pthread_create(&a, NULL, first, NULL) ||
		pthread_create(&b, NULL, second, NULL))
		return 1;
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	if (pthread_create(&c, NULL, third, NULL))
		return 1;
	return pthread_join(c, NULL);
}

static int run_again(int n)
{
	pthread_t thread;

	for (int i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, third, &thread) || pthread_join(thread, NULL))
			return 1;
	return 0;
}

static int act_beside(const char *path)
{
	char pattern[4096];
	glob_t found;
	pid_t child = fork();

	if (!child) {
		execl("/proc/self/exe", "actions", "calls", "1", (char *)NULL);
		_exit(127);
	}
	snprintf(pattern, sizeof(pattern), "%s.snapshot.*/p%d", path, (int)child);
	for (int i = 0; child > 0 && i < 5000; i++) {
		acts(1);
		usleep(1000);
		if (i % 50 || glob(pattern, 0, NULL, &found))
			continue;
		globfree(&found);
		waitpid(child, NULL, 0);
		return 0;
	}
	return 5;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(way, "calls")) {
		for (int i = 1; i <= n; i++) {
			other(i);
			acts(i);
		}
		return 0;
	}
	if (!strcmp(way, "bursts")) {
		for (int i = 0; i < 3; i++) {
			act(1, 100);
			if (i < 2)
				usleep(400000);
		}
		return 0;
	}
	if (!strcmp(way, "slow")) {
		for (int i = 1; i <= n; i++)
			slow(i % 10 ? 0 : 20000);
		return 0;
	}
	if (!strcmp(way, "fork"))
		return fork_and_act();
	if (!strcmp(way, "beside"))
		return act_beside(argv[2]);
	if (!strcmp(way, "threads"))
		return run_threads();
	return !strcmp(way, "again") ? run_again(n) : 2;
}
