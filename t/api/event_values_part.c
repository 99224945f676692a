/* SPDX-License-Identifier: MIT */
/* Functions whose arguments and results event_values_live.t knows. */
#include <errno.h>
#include <string.h>

#include "t/api/event_values_part.h"

volatile long work;

/* Each function has enough in it that all kinds of sites find room. */
#define WORK                                                                                                           \
	for (int i_ = 0; i_ < 3; i_++)                                                                                 \
	work++

double ev_mixed(int number, unsigned long wide, const char *text, double real, float single)
{
	WORK;
	return number + (double)wide + real + (double)single + (text ? text[0] : 0);
}

long ev_many(long a, long b, long c, long d, long e, long f, long on_stack, const char *text)
{
	WORK;
	return a + b + c + d + e + f + on_stack + (text ? 1 : 0);
}

int ev_fails(int with)
{
	WORK;
	errno = with;
	return with ? -1 : 0;
}

void ev_writes(char *out, int size)
{
	WORK;
	memset(out, 'w', (size_t)size);
	out[size] = '\0';
}
