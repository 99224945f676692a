/* SPDX-License-Identifier: MIT */
/*
 * For t/process/fork.t: one thread opens and closes libraries for ever, the main thread forks while it stands anywhere
 * in there, held by a signal. Each child switches `counted` off and on again, and calls it.
 *	fork_open CHILDREN LIBRARY...
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "xaudit.h"

void counted(void);

static sem_t held;
static volatile sig_atomic_t released;
static char **library;

static void hold(int signal)
{
	struct timespec moment = { .tv_nsec = 1000000 };

	(void)signal;
	sem_post(&held);
	/* fork() waits for the locks of malloc: not for ever, if it is in there that this thread is held. */
	for (int i = 0; i < 300 && !released; i++)
		nanosleep(&moment, NULL);
}

static void *open_and_close(void *unused)
{
	for (char **p = library;; p = p[1] ? p + 1 : library) {
		void *handle = dlopen(*p, RTLD_NOW);
		if (!handle) {
			fprintf(stderr, "%s\n", dlerror());
			exit(1);
		}
		dlclose(handle);
	}
	return unused;
}

/* Returns what is wrong, 0: nothing. */
static int child(void)
{
	struct xaudit_result off = { .size = sizeof(off) }, on = { .size = sizeof(on) };

	alarm(60);
	if (xaudit_disable("counted@libwithin.so", &off))
		return 1;
	counted();
	if (xaudit_enable("counted@libwithin.so", &on))
		return 2;
	counted();
	counted();
	return off.changed != 1 || on.changed != 1 || on.refused ? 3 : 0;
}

int main(int argc, char **argv)
{
	int children = argc > 2 ? atoi(argv[1]) : 0, wrong[4] = { 0 }, status;
	unsigned seed = 1;
	pthread_t thread;

	library = argv + 2;
	sem_init(&held, 0, 0);
	signal(SIGUSR1, hold);
	if (!children || pthread_create(&thread, NULL, open_and_close, NULL))
		return 2;
	alarm(60);
	for (int i = 0; i < children; i++) {
		struct timespec pause = { .tv_nsec = rand_r(&seed) % 1000000 };
		nanosleep(&pause, NULL);
		released = 0;
		pthread_kill(thread, SIGUSR1);
		while (sem_wait(&held))
			;
		pid_t pid = fork();
		if (pid == 0)
			_exit(child());
		waitpid(pid, &status, 0);
		wrong[WIFEXITED(status) ? WEXITSTATUS(status) & 3 : 3]++;
		released = 1;
	}
	printf("%d right, %d not off, %d not on, %d otherwise\n", wrong[0], wrong[1], wrong[2], wrong[3]);
	fflush(stdout);
	_exit(0);
}
