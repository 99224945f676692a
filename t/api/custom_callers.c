/* SPDX-License-Identifier: MIT */
/*
 * custom_callers WAY COUNT: outer() calls inner() so often, which makes an event:
 *
 *	event, typed, mark, macro	by that function of xaudit-api, or by XAUDIT_EVENT
 *	custom, sled			by a custom, or typed, event sled of XRay, in libcallers.so
 *	signal, elsewhere		by xaudit_event() in a handler that runs in it, on the same stack, or on another
 *	fork				half of them in a child that was forked after the others
 *	thread				likewise, in another thread
 *	coroutine			all on a stack that the program has made
 *	vfork				the first by a child that shares the memory
 *	both				in turns by two functions
 *	request				begins and ends a request, too
 *
 * With LIBRARY it is libcallers.so.
 */
#define _GNU_SOURCE
#ifdef LIBRARY
/* clang before 17 does wrong, or crashes, where the data lies in its register already. */
#define SLED __attribute__((xray_always_instrument, noinline))

void sled_custom(void);
void sled_typed(void);

SLED void sled_custom(void)
{
	char more[100];

	/* It has a frame; but below that is no call, so it may use what lies below the stack pointer. */
	__asm__ volatile("" : "=m"(more));
	__xray_customevent("12345678", 8);
	__asm__ volatile("" : : "m"(more));
}

SLED void sled_typed(void)
{
	__xray_typedevent(7, "123", 3);
	__asm__ volatile("");
}
#else
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "xaudit.h"

#ifdef SLEDS
void sled_custom(void);
void sled_typed(void);
#else
#define sled_custom abort
#define sled_typed  abort
#endif

static const char *way;
static int type, wrong;

static void on_signal(int number)
{
	wrong += number != SIGUSR1 || xaudit_event("12345678", 8);
	__asm__ volatile("");
}

static __attribute__((noinline)) void other(void)
{
	wrong += xaudit_event("12345678", 8) != 0;
	__asm__ volatile("");
}

static __attribute__((noinline)) void inner(int i)
{
	if (!strcmp(way, "typed"))
		wrong += xaudit_typed_event(type, "1234", 4) != 0;
	else if (!strcmp(way, "mark"))
		wrong += xaudit_mark("") != 0;
	else if (!strcmp(way, "macro"))
		wrong += XAUDIT_EVENT("123456789", 9) != 0;
	else if (!strcmp(way, "custom"))
		sled_custom();
	else if (!strcmp(way, "sled"))
		sled_typed();
	else if (!strcmp(way, "signal") || !strcmp(way, "elsewhere"))
		raise(SIGUSR1);
	else if (!strcmp(way, "both") && i % 2)
		other();
	else
		wrong += xaudit_event("12345678", 8) != 0;
	if (!strcmp(way, "request"))
		wrong += xaudit_request("one") || xaudit_request_end();
	__asm__ volatile("");
}

static __attribute__((noinline)) void outer(int count)
{
	for (int i = 0; i < count; i++)
		inner(i);
	__asm__ volatile("");
}

static void *run(void *count)
{
	outer(*(int *)count);
	__asm__ volatile("");
	return NULL;
}

static ucontext_t here, there;
static int all;

static void coroutine(void)
{
	outer(all);
	__asm__ volatile("");
}

static int go_there(void)
{
	const size_t size = 256 << 10;

	if (getcontext(&there) || !(there.uc_stack.ss_sp = malloc(size)))
		return 1;
	there.uc_stack.ss_size = size;
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
	return swapcontext(&here, &there);
}

static int go(int count)
{
	pthread_t thread;
	int status = 0, half = count / 2;
	pid_t child;

	if (!strcmp(way, "fork")) {
		outer(half);
		child = fork();
		if (!child) {
			outer(half);
			_exit(wrong);
		}
		return child < 0 || waitpid(child, &status, 0) != child || status;
	}
	if (!strcmp(way, "vfork")) {
		child = vfork();
		if (!child) {
			inner(0);
			_exit(wrong);
		}
		outer(count - 1);
		return child < 0 || waitpid(child, &status, 0) != child || status;
	}
	if (!strcmp(way, "thread")) {
		outer(half);
		return pthread_create(&thread, NULL, run, &half) || pthread_join(thread, NULL);
	}
	if (!strcmp(way, "coroutine"))
		return go_there();
	outer(count);
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	static char stack[64 << 10];
	stack_t other_stack = { .ss_sp = stack, .ss_size = sizeof(stack) };

	if (argc != 3)
		return 2;
	way = argv[1];
	all = atoi(argv[2]);
	type = xaudit_register_type("number");
	if (!strcmp(way, "elsewhere"))
		action.sa_flags = SA_ONSTACK;
	if (sigaltstack(&other_stack, NULL) || sigaction(SIGUSR1, &action, NULL))
		return 2;
	int failed = go(all);
	__asm__ volatile("");
	return failed || wrong;
}
#endif
