/* SPDX-License-Identifier: MIT */
/*
 * alone STEPS: does what each letter says, with 100 calls of counted() for each c, t and m; then it ends by exit().
 *	c	calls
 *	b	3 000 000 calls, of which nearly all are in full chunks
 *	s	lives on for a while
 *	f	forks; the child goes on, and the parent ends after it
 *	d	forks; the child goes on, and the parent ends at once
 *	e	executes itself for the steps that are left
 *	t	a thread calls, and stays
 *	m	30 threads call, one after the other; all stay till the last has called
 *	n	20 children call, one after the other, and end by _exit()
 *	p	a filter of system calls, which allows them all
 *	u	other rights
 *	l	no file may grow
 *	o	no descriptor is free, and none may be had
 *	k	kills itself
 *	x	ends by _exit()
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS	100
#define MANY	3000000
#define THREADS 30
#define CHILDREN 20

void counted(void);

static pthread_barrier_t called, all;

static void call(void)
{
	for (int i = 0; i < CALLS; i++)
		counted();
}

static void *call_and_stay(void *unused)
{
	call();
	pthread_barrier_wait(&called);
	pause();
	return unused;
}

static void *call_with_others(void *unused)
{
	call();
	pthread_barrier_wait(&called);
	pthread_barrier_wait(&all);
	return unused;
}

static int start(void *(*body)(void *), pthread_t *thread)
{
	pthread_barrier_init(&called, NULL, 2);
	if (pthread_create(thread, NULL, body, NULL))
		return 1;
	pthread_barrier_wait(&called);
	return 0;
}

static int crowd(void)
{
	pthread_t thread[THREADS];

	pthread_barrier_init(&all, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		if (start(call_with_others, &thread[i]))
			return 1;
	pthread_barrier_wait(&all);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static int children(void)
{
	int status = 0;

	for (int i = 0; i < CHILDREN && !status; i++) {
		pid_t child = fork();
		if (!child) {
			call();
			_exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) < 0)
			return 1;
	}
	return status != 0;
}

static int filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int no_descriptors(void)
{
	const struct rlimit few = { 16, 16 };

	if (setrlimit(RLIMIT_NOFILE, &few))
		return 1;
	while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
		;
	return 0;
}

static void fork_off(int waits)
{
	int status = 1;
	pid_t child = fork();

	if (!child)
		return;
	if (child > 0 && waits)
		waitpid(child, &status, 0);
	exit(waits ? status != 0 : child < 0);
}

static int step(char **argv, char *left)
{
	const struct rlimit none = { 0, 0 };
	pthread_t thread;

	switch (left[-1]) {
	case 'c':
		call();
		return 0;
	case 'b':
		for (int i = 0; i < MANY; i++)
			counted();
		break;
	case 's':
		return usleep(200000);
	case 'f':
	case 'd':
		fork_off(left[-1] == 'f');
		return 0;
	case 'e':
		argv[1] = left;
		return execv("/proc/self/exe", argv);
	case 't':
		return start(call_and_stay, &thread);
	case 'm':
		return crowd();
	case 'n':
		return children();
	case 'x':
		_exit(0);
	case 'p':
		return filter();
	case 'u':
		return setresuid(65534, 65534, 65534);
	case 'l':
		return setrlimit(RLIMIT_FSIZE, &none);
	case 'o':
		return no_descriptors();
	case 'k':
		return raise(SIGKILL);
	default:
		return 1;
	}
}

int main(int argc, char **argv)
{
	for (char *p = argv[1]; argc > 1 && *p; p++)
		if (step(argv, p + 1))
			return 2;
	return 0;
}
