/* SPDX-License-Identifier: MIT */
/* Coroutines for scenarios (flow.h): each has open calls of a function of its own while the other coroutines run. */
#ifndef XAUDIT_T_LIB_FLOW_COROUTINES_H
#define XAUDIT_T_LIB_FLOW_COROUTINES_H

#include <ucontext.h>

#include "t/lib/flow.h"

#define COROUTINES 4

static ucontext_t scheduler, coroutine[COROUTINES];
static int current;

static void yield(void)
{
	swapcontext(&coroutine[current], &scheduler);
}

static void resume(int n)
{
	current = n;
	swapcontext(&scheduler, &coroutine[n]);
}

/* Calls itself once; in the middle of each call it switches away from the thread. */
static long coroutine_call(long deep)
{
	int n = current;

	yield();
	long r = deep ? F(n)(deep - 1) : 100;
	yield();
	return r + 1;
}

static void coroutine_main(void)
{
	int n = current;

	expect(F(n)(1), 102);
	current = n;
}

/* Makes coroutine n, which calls function n, with that id. */
static void make_coroutine(int n, uint32_t id, void *stack, size_t size)
{
	f[n] = core_traced(TRAMP_INTERCEPT, id, coroutine_call);
	getcontext(&coroutine[n]);
	coroutine[n].uc_stack.ss_sp = stack;
	coroutine[n].uc_stack.ss_size = size;
	coroutine[n].uc_link = &scheduler;
	makecontext(&coroutine[n], coroutine_main, 0);
}

#endif
