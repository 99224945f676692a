/* SPDX-License-Identifier: MIT */
/*
 * The stack for the longer work of ld.so's callbacks: which thread has it, which signals come there, and the way back.
 */
#define _GNU_SOURCE
#include "audit/start/altstack.h"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/lib/tap.h"

static char *own_low, *own_high; /* the first thread's stack */

static int is_own(const void *p)
{
	return (const char *)p >= own_low && (const char *)p < own_high;
}

static void find_own(void)
{
	pthread_attr_t attributes;
	size_t size;
	void *low;

	if (pthread_getattr_np(pthread_self(), &attributes) || pthread_attr_getstack(&attributes, &low, &size))
		exit(255);
	pthread_attr_destroy(&attributes);
	own_low = low;
	own_high = own_low + size;
}

static void where(void *argument)
{
	*(uintptr_t *)argument = (uintptr_t)__builtin_frame_address(0);
}

/* ---- nested calls ---- */

struct nest {
	uintptr_t at, inner;
	int limited;
};

static void nest(void *argument)
{
	struct nest *n = argument;
	struct rlimit limit;

	where(&n->at);
	getrlimit(RLIMIT_AS, &limit);
	if (n->limited)
		setrlimit(RLIMIT_AS, &(struct rlimit){ 4096, limit.rlim_max });
	altstack_call(where, &n->inner);
	setrlimit(RLIMIT_AS, &limit);
}

static void check_nested(void)
{
	uintptr_t first, second;
	struct nest n = { 0, 0, 0 };

	altstack_call(where, &first);
	ok(!is_own((void *)first), "the function runs on another stack");
	altstack_call(where, &second);
	ok(first == second, "the next call takes the stack that the one before has left");
	altstack_call(nest, &n);
	ok(!is_own((void *)n.inner) && (n.inner < n.at - (256 << 10) || n.inner > n.at),
		"a call within a call has a stack of its own");
	n.limited = 1;
	altstack_call(nest, &n);
	ok(n.inner < n.at && n.at - n.inner < 4096,
		"where there is no memory for one, the function runs on its caller's");
}

/* ---- signals ---- */

static uintptr_t handled_at;

static void handle(int signal)
{
	(void)signal;
	where(&handled_at);
}

static void signals(void *argument)
{
	sigset_t *inside = argument;

	pthread_sigmask(SIG_BLOCK, NULL, inside);
	raise(SIGUSR1);
	if (handled_at)
		handled_at = 1; /* this is too early */
}

static void check_signals(void)
{
	sigset_t inside, before, after;
	int kept = 1;

	signal(SIGUSR1, handle);
	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	sigaddset(&before, SIGBUS);
	pthread_sigmask(SIG_BLOCK, &before, NULL);
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	altstack_call(signals, &inside);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	ok(sigismember(&inside, SIGUSR1) && sigismember(&inside, SIGALRM) && sigismember(&inside, SIGRTMIN),
		"signals wait");
	ok(!sigismember(&inside, SIGSEGV) && !sigismember(&inside, SIGSYS) && sigismember(&inside, SIGBUS),
		"but for those of the thread's own instructions, where they didn't before");
	ok(handled_at > 1 && is_own((void *)handled_at), "a handler comes behind it, on the thread's own stack");
	for (int i = 1; i < 32; i++)
		kept &= sigismember(&before, i) == sigismember(&after, i);
	ok(kept, "behind it the same signals are blocked as before");
	pthread_sigmask(SIG_UNBLOCK, &before, NULL);
}

/* ---- the caller ---- */

struct trace {
	void *frames[64];
	int count;
};

static void trace(void *argument)
{
	struct trace *t = argument;

	t->count = backtrace(t->frames, 64);
}

static __attribute__((noinline)) void *call_trace(struct trace *t)
{
	altstack_call(trace, t);
	return __builtin_return_address(0);
}

static void check_trace(void)
{
	struct trace t;
	void *caller = call_trace(&t);
	int found = 0;

	for (int i = 0; i < t.count; i++)
		found += t.frames[i] == caller;
	is_int(found, 1, "a backtrace from there shows who called");
}

/* ---- all at once ---- */

enum { THREADS = 4, ROUNDS = 500, BYTES = 200 << 10 };

static void fill(void *argument)
{
	volatile unsigned char bytes[BYTES];
	const unsigned char mine = *(unsigned char *)argument;

	for (size_t i = 0; i < BYTES; i += 64)
		bytes[i] = mine;
	sched_yield();
	for (size_t i = 0; i < BYTES; i += 64)
		if (bytes[i] != mine)
			*(unsigned char *)argument = 0;
}

static void *work(void *argument)
{
	for (int i = 0; i < ROUNDS && *(unsigned char *)argument; i++)
		altstack_call(fill, argument);
	return NULL;
}

static void forks(void *argument)
{
	uintptr_t at;
	pid_t child = fork();

	if (!child) {
		altstack_call(where, &at);
		_exit(is_own((void *)at) ? 1 : 7);
	}
	*(pid_t *)argument = child;
}

static void check_many(void)
{
	pthread_t thread[THREADS];
	unsigned char mine[THREADS];
	int good = 0, status = 0, children = 0;
	pid_t child;

	for (int i = 0; i < THREADS; i++) {
		mine[i] = (unsigned char)(i + 1);
		if (pthread_create(&thread[i], NULL, work, &mine[i]))
			exit(255);
	}
	for (int i = 0; i < 20; i++) {
		altstack_call(forks, &child);
		children += child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
			    WEXITSTATUS(status) == 7;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		good += mine[i] == i + 1;
	}
	is_int(good, THREADS, "threads that are at it at once don't share a stack");
	is_int(children, 20, "a child that is made meanwhile has one, too");
}

int main(void)
{
	find_own();
	check_nested();
	check_signals();
	check_trace();
	check_many();
	return done_testing();
}
