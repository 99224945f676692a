/* SPDX-License-Identifier: MIT */
/* Functions that requests.t traces: see requests.c. */
#include <setjmp.h>
#include <stddef.h>

#include "runtime/api/xaudit.h"
#include "t/show/requests.h"

volatile int leaves;

void leaf(void)
{
	leaves++;
}

/* With the program's own calls, the events are around the call. */
static void within(int own, int id, const char *name)
{
	if (own)
		xaudit_request_number((uint64_t)id);
	handle(own, id, name, 0);
	if (own)
		xaudit_request_end();
}

void handle(int own, int id, const char *name, int inner)
{
	(void)name;
	leaf();
	for (int i = 1; i < id % 10; i++)
		leaf();
	if (inner) {
		within(own, inner, "inner");
		leaf();
	}
}

void leave(int own, int id, jmp_buf *to)
{
	/* Not ended: it is over with this call. */
	if (own)
		xaudit_request_number((uint64_t)id);
	leaf();
	longjmp(*to, 1);
}

void around(int own, int id, void (*what)(void *), void *arg)
{
	(void)own;
	(void)id;
	what(arg);
}
