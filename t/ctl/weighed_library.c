/* SPDX-License-Identifier: MIT */
/* Functions with values that are known: weigh() fails where `a` is 13, and calls no other one; weigh_text() is told. */
#include <errno.h>

static int count; /* of calls of weigh() */

__attribute__((noinline)) int weigh(int a, long b)
{
	count++;
	if (a == 13) {
		errno = EDOM;
		return -1;
	}
	return a + (int)b;
}

__attribute__((noinline)) double weigh_text(const char *text, double by)
{
	return by * (double)text[0];
}

int weighed(void)
{
	return count;
}
