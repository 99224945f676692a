/* SPDX-License-Identifier: MIT */
/*
 * probe_closing LIBRARY LIBRARY KEPT: says "ready PID". For each of the first two a thread opens it, calls its function
 * and closes it, all the time; another one makes children by fork(), which call that of the third, which stays, and by
 * vfork() and execve(), in turns. SIGALRM comes fifty times a second; every fourth time its handler jumps out of the
 * function that it has interrupted, if it has. Each line is answered by "called N rounds N forks N wrong".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

typedef uint64_t function(uint64_t, uint64_t);

static volatile int ending;
static unsigned long rounds, forks, wrong;
static __thread sigjmp_buf out_of_it;
static __thread volatile int may_jump;
static function *kept;

static void add(unsigned long *to)
{
	__atomic_add_fetch(to, 1, __ATOMIC_RELAXED);
}

static void on_alarm(int signal)
{
	static unsigned n;

	(void)signal;
	if (may_jump && __atomic_add_fetch(&n, 1, __ATOMIC_RELAXED) % 4 == 0) {
		may_jump = 0;
		siglongjmp(out_of_it, 1);
	}
}

static void call(function *f)
{
	for (uint64_t i = 0; i < 200; i++) {
		volatile uint64_t a = 0, b = 0;
		if (!sigsetjmp(out_of_it, 1)) {
			may_jump = 1;
			a = f(i, 7);
			b = f(i, 7);
			may_jump = 0;
		}
		if (a && b && a != b)
			add(&wrong);
	}
}

static void *open_and_close(void *path)
{
	for (; !ending; add(&rounds)) {
		void *library = dlopen(path, RTLD_NOW);
		function *f = library ? (function *)dlsym(library, "mixed") : NULL;
		if (!f) {
			add(&wrong);
			return NULL;
		}
		call(f);
		dlclose(library);
	}
	return NULL;
}

static void *make_children(void *unused)
{
	for (unsigned n = 0; !ending; n++) {
		int status = 1;
		pid_t pid = n % 2 ? fork() : vfork();
		if (!pid && n % 2) {
			for (uint64_t i = 0; i < 50; i++)
				if (kept(i, 7) != kept(i, 7))
					_exit(9);
			_exit(0);
		}
		if (!pid) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			add(&wrong);
		add(&forks);
	}
	return unused;
}

int main(int argc, char **argv)
{
	const struct itimerval each = { { 0, 20000 }, { 0, 20000 } };
	const struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	pthread_t thread[3];
	char line[64];

	if (argc != 4)
		return 2;
	void *library = dlopen(argv[3], RTLD_NOW);
	kept = library ? (function *)dlsym(library, "mixed") : NULL;
	if (!kept || sigaction(SIGALRM, &action, NULL))
		return 3;
	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread[i], NULL, i < 2 ? open_and_close : make_children, argv[1 + i]))
			return 4;
	setitimer(ITIMER_REAL, &each, NULL);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		printf("called %lu rounds %lu forks %lu wrong\n", rounds, forks, wrong);
		fflush(stdout);
	}
	ending = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	return wrong != 0;
}
