/* SPDX-License-Identifier: MIT */
/*
 * Whom runtime/process/lock.h takes a lock over from, when it was held for longer than a holder needs: not from a task
 * that shares our memory and is only stopped, but from one that is gone, and from another process that has got its
 * number. And that a task in a process namespace of its own, to which no number of ours is anybody's, does not take it
 * for one that is gone.
 */
#define _GNU_SOURCE
#include <linux/kcmp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/identity.h"
#include "runtime/process/lock.h"
#include "t/lib/sanitizers.h"
#include "t/lib/tap.h"

#define LONG 13 /* s; a waiter asks again after ten */

static uint32_t lock;
static volatile int result; /* of lock_take(); -1: it waits */

static void *waiter(void *argument)
{
	uint32_t number = lock_number();

	result = lock_take(&lock, number);
	lock_release(&lock);
	return argument;
}

/* Waits for so many seconds, or until it has the lock. Returns what it has found then. */
static int wait_for(int seconds)
{
	const struct timespec tick = { .tv_nsec = 50000000 };

	for (int i = 0; i < 20 * seconds && result < 0; i++)
		nanosleep(&tick, NULL);
	return result;
}

static pthread_t begin(void)
{
	pthread_t thread;

	result = -1;
	if (pthread_create(&thread, NULL, waiter, NULL))
		abort();
	return thread;
}

static int hold(void *unused)
{
	(void)unused;
	lock_take(&lock, (uint32_t)syscall(SYS_gettid));
	syscall(SYS_kill, syscall(SYS_getpid), SIGSTOP);
	lock_release(&lock);
	syscall(SYS_exit, 0);
	return 0;
}

/* A task that shares our memory takes the lock, and is stopped. */
static pid_t stopped_holder(void)
{
	static _Alignas(16) char stack[64 << 10]; /* there is one such task at a time */
	pid_t pid = clone(hold, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	int status;

	if (pid < 0 || waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		abort();
	return pid;
}

/* A task that shares our memory tries to take the lock over from a holder that is gone. */
static int try_left(void *unused)
{
	(void)unused;
	result = lock_try_left(&lock, (uint32_t)syscall(SYS_gettid));
	syscall(SYS_exit, 0);
	return 0;
}

/* Returns what it got, or -1: there can be no such task. */
static int tried_by(int flags)
{
	static _Alignas(16) char stack[64 << 10]; /* there is one such task at a time */

	result = -1;
	pid_t pid = clone(try_left, stack + sizeof(stack), CLONE_VM | SIGCHLD | flags, NULL);
	if (pid < 0)
		return -1;
	waitpid(pid, NULL, 0);
	return result;
}

/* By tasks that share our memory. */
static void by_others(void)
{
	pid_t pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	lock = (uint32_t)pid;
	is_int(tried_by(0), 1, "a child that shares our memory knows that the holder is gone");
	lock = (uint32_t)getpid();
	is_int(tried_by(0), 0, "and that we are not");
	int got = tried_by(CLONE_NEWPID);
	if (got < 0)
		got = tried_by(CLONE_NEWPID | CLONE_NEWUSER);
	if (got < 0)
		skip(1, "no process namespace can be made here");
	else
		is_int(got, 0, "in a process namespace of its own it does not know, and takes nothing");
}

int main(void)
{
	pid_t pid = getpid();
	pthread_t thread;

	plan(8);
	if (WITH_TSAN) {
		skip(8, "ThreadSanitizer ends tasks that share the memory");
		return done_testing();
	}
	identity_init(NULL);
	if (syscall(SYS_kcmp, pid, pid, KCMP_VM, 0, 0)) {
		skip(2, "the kernel does not compare processes");
	} else {
		pid = stopped_holder();
		thread = begin();
		is_int(wait_for(LONG), -1, "a task that shares our memory and is stopped keeps its lock");
		kill(pid, SIGCONT);
		is_int(wait_for(60), 0, "when it goes on, it releases the lock");
		pthread_join(thread, NULL);
		waitpid(pid, NULL, 0);
	}

	pid = stopped_holder();
	thread = begin();
	kill(pid, SIGKILL);
	is_int(wait_for(60), 1, "the lock is taken over when that task was killed");
	pthread_join(thread, NULL);
	waitpid(pid, NULL, 0);

	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	lock = (uint32_t)pid;
	thread = begin();
	is_int(wait_for(60), 1, "the lock is taken over from another process that has the holder's number");
	pthread_join(thread, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	is_int((long)lock, 0, "nobody has it in the end");

	by_others();
	return done_testing();
}
