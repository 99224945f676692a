/* SPDX-License-Identifier: MIT */
/* What live_flow.cc calls. */
#define FUNCTION __attribute__((noinline))

volatile long work;

FUNCTION int v_number(int in, const char *text)
{
	work = *text;
	for (int i = 0; i < 3; i++)
		work++;
	return in;
}

FUNCTION long v_quick(int in, long more)
{
	for (int i = 0; i < 3; i++)
		work++;
	return in + more;
}

FUNCTION int v_swap(int in, long *out, void (*during)(int))
{
	if (during)
		during(in);
	*out = 2l * in;
	return in;
}

FUNCTION int v_tail(int in, const char *text, int (*next)(int, const char *))
{
	for (int i = 0; i < 3; i++)
		work++;
	return next(in + 1, text);
}
