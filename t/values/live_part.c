/* SPDX-License-Identifier: MIT */
/* Functions whose arguments and results live.t knows. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#define FUNCTION __attribute__((noinline))
/* Each function has enough in it that all kinds of sites find room. */
#define WORK                                                                                                           \
	for (int i_ = 0; i_ < 3; i_++)                                                                                 \
	work++

enum colour { RED = 1, GREEN, BLUE = 300 };

volatile long work;
int live_counter = 1000;
const char *live_name = "the library";
char live_data[80] = "writable";

FUNCTION int v_ints(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f, long g,
	unsigned long h)
{
	WORK;
	live_counter++;
	return a + b + c + d + e + (int)f + (int)g + (int)h;
}

FUNCTION long v_stack(long a, long b, long c, long d, long e, long f, int g, const char *h, signed char i)
{
	WORK;
	return a + b + c + d + e + f + g + h[0] + i;
}

FUNCTION double v_reals(double a, float b, int c, double d)
{
	WORK;
	return a + (double)b + c + d;
}

FUNCTION float v_real(float a)
{
	WORK;
	return -a;
}

FUNCTION const char *v_text(const char *text)
{
	WORK;
	return work ? text : NULL;
}

FUNCTION bool v_flags(bool is, enum colour colour, void *at, const int *number)
{
	WORK;
	return !is && colour && at && number;
}

FUNCTION int v_out(int in, int *out, char *text)
{
	WORK;
	*out = in * 2;
	text[0] = 'o';
	text[1] = 'k';
	text[2] = '\0';
	return in;
}

FUNCTION int v_fails(int with)
{
	WORK;
	if (!with)
		return 0;
	errno = with;
	return -1;
}

FUNCTION int v_named(int a)
{
	WORK;
	return -a;
}

int v_named_too(int a) __attribute__((alias("v_named")));

FUNCTION long v_where(long a)
{
	WORK;
	return a;
}

FUNCTION long v_in(long (*inner)(long), long a)
{
	WORK;
	return inner(a + 1) + 1;
}

/* Not by its name: a program that has it so has a copy. */
char *live_writable(void)
{
	return live_data;
}

/* A whole page of it is the library's own. */
char *live_page(void)
{
	static char pages[2 * 4096] = "!";

	return pages;
}

const char *live_constant(void)
{
	return "constant";
}
