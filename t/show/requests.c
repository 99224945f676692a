/* SPDX-License-Identifier: MIT */
/*
 * A program with requests, for requests.t: by values of its functions, or, with an argument, by calls of its own. They
 * are in each other, in threads, on stacks of coroutines, and left by longjmp.
 */
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

#include "runtime/api/xaudit.h"
#include "t/show/requests.h"

static int own;

static void begin(int id)
{
	if (own)
		xaudit_request_number((uint64_t)id);
}

static void end(void)
{
	if (own)
		xaudit_request_end();
}

static void serve(int id, int inner)
{
	begin(id);
	handle(own, id, "outer", inner);
	end();
}

/* ---- threads ---- */

static void *thread(void *arg)
{
	int id = *(int *)arg;

	for (int i = 0; i < 100; i++)
		serve(id, i % 2 ? 91 : 0);
	return NULL;
}

static void threads(void)
{
	static int id[2] = { 13, 24 };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, thread, &id[i]))
			abort();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* ---- coroutines ---- */

static ucontext_t back, at[2];

static void switches(void *arg)
{
	int number = *(int *)arg;

	for (int i = 0; i < 10; i++) {
		leaf();
		swapcontext(&at[number], &back);
		leaf();
	}
}

static void coroutine(int number)
{
	begin(30 + number);
	around(own, 30 + number, switches, &number);
	end();
}

static void coroutines(void)
{
	static char stack[2][65536] __attribute__((aligned(64)));

	for (int i = 0; i < 2; i++) {
		getcontext(&at[i]);
		at[i].uc_stack.ss_sp = stack[i];
		at[i].uc_stack.ss_size = sizeof(stack[i]);
		at[i].uc_link = &back;
		makecontext(&at[i], (void (*)(void))coroutine, 1, i);
	}
	/* Eleven times each: the last time it ends. */
	for (int i = 0; i < 22; i++) {
		swapcontext(&back, &at[i % 2]);
		leaf(); /* of no request */
	}
}

/* ---- jumps ---- */

static void jumps(void)
{
	static jmp_buf here;

	for (volatile int i = 0; i < 5; i++) {
		if (!setjmp(here))
			leave(own, 41, &here);
		leaf(); /* of no request */
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	own = argc > 1;
	serve(11, 0);
	serve(12, 91);
	serve(11, 0);
	leaf(); /* of no request */
	threads();
	coroutines();
	jumps();
	return 0;
}
