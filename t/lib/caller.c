#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
#include "t/lib/caller.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

__thread struct caller *caller_self;
volatile int caller_disturb;

static long body(long x)
{
	return 2 * x + 1;
}

void caller_prepare(struct caller *caller)
{
	caller->function = core_traced(TRAMP_INTERCEPT, 1, body);
	caller->handler = core_traced(TRAMP_INTERCEPT, CALLER_HANDLER, body);
}

void caller_call(struct traced function, uint32_t id, uint32_t *wrong)
{
	function.cell->word = TRACE_WORD(TRACE_ENTRY, id);
	*wrong += CALL(long (*)(long), function)((long)id) != 2 * (long)id + 1;
}

void caller_run(struct caller *caller, uint32_t calls, uint32_t handled)
{
	uint64_t end = core_now_ns() + 40000000000ull;

	caller->tid = (uint32_t)gettid();
	caller_self = caller;
	while (caller->made < calls || *(volatile uint32_t *)&caller->handled < handled) {
		caller_call(caller->function, 1 + caller->made++, &caller->wrong);
		if (caller->made % 256 == 0 && core_now_ns() > end)
			break;
		if (caller_disturb && caller->made % 1024 == 0)
			tramp_self->span--;
	}
}

static void on_signal(int signal)
{
	struct caller *caller = caller_self;

	(void)signal;
	if (!caller)
		return;
	for (int i = 0; i < 3; i++)
		caller_call(caller->handler, CALLER_HANDLER + caller->handled++, &caller->wrong);
	if (caller_disturb && caller->handled % 2)
		tramp_self->span++;
}

void caller_start_timer(int microseconds)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct itimerval timer = {{0, microseconds}, {0, microseconds}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

void caller_stop_timer(void)
{
	struct itimerval timer = {0};

	setitimer(ITIMER_REAL, &timer, NULL);
}

void caller_expect(struct caller_expected *expected, const struct event *event)
{
	uint32_t type = CORE_HAS_MIRROR ? (expected->open ? TRACE_EXIT : TRACE_ENTRY) : TRACE_POINT;

	if (event->type != type || event->id != expected->next)
		expected->strange++;
	if (event->type == TRACE_ENTRY) {
		expected->open = 1;
	} else {
		expected->open = 0;
		expected->next = event->id + 1;
	}
}
