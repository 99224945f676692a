/* SPDX-License-Identifier: MIT */
/* Threads of the command beside its main one, and the processors that it may use. Any thread. */
#ifndef XAUDIT_TOOL_THREAD_H
#define XAUDIT_TOOL_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>

/*
 * As pthread_create(), for a thread that takes no signals: these are for the caller's; but SIGBUS, which a thread's own
 * reading makes (bus.h). Returns 0, or an errno.
 */
static inline int tool_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(thread, NULL, run, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* At least 1. */
static inline unsigned tool_processors(void)
{
	cpu_set_t cpus;
	int count = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);

	return count < 1 ? 1 : (unsigned)count;
}

#endif
