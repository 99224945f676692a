/* SPDX-License-Identifier: MIT */
/*
 * Functions to trace: with values in all kinds of registers, and of C++ with something to clean up. PART_LAST: those
 * that the others call.
 */
#include "t/api/handlers_work.h"

#include <setjmp.h>

#define NOT_INLINED __attribute__((noinline))

#ifdef PART_LAST

NOT_INLINED long work_last(long a)
{
	return a * 31 + 7;
}

NOT_INLINED void work_leave(void *env, long a)
{
	longjmp(*static_cast<jmp_buf *>(env), (int)(a & 0xff) + 1);
}

#else

/* Local functions whose callers may keep values in registers that others would have to save (gcc's -fipa-ra). */
static double __attribute__((noinline)) half(double x)
{
	return x * 0.5 + 1;
}

static long __attribute__((noinline)) rotate(long x)
{
	return (long)((unsigned long)x << 7 | (unsigned long)x >> 57);
}

NOT_INLINED double work_doubles(double a, double b, double c, double d, double e, double f, double g, double h)
{
	double s = a / 3, t = b / 5, u = c / 7, v = d / 9;

	s += half(e);
	t += half(f) * s;
	u += half(g) * t;
	v += half(h) * u;
	return s + t + u + v + a;
}

NOT_INLINED long double work_extended(long double a, long double b)
{
	return a / b + 1 / (a + 2);
}

NOT_INLINED long double _Complex work_complex(long double a, long double b)
{
	long double _Complex r;

	__real__ r = a / 3 - b;
	__imag__ r = b / 7 + a;
	return r;
}

NOT_INLINED long work_integers(long a, long b, long c, long d, long e, long f, long g)
{
	long s = rotate(a + b), t = rotate(c ^ d), u = rotate(e * f);

	return s ^ rotate(t) ^ rotate(u + g) ^ a ^ f;
}

#ifdef __AVX__
NOT_INLINED wide work_wide(wide a, wide b)
{
	return a * b + (a - b) / (b + 3);
}
#endif

NOT_INLINED long work_tail(long a)
{
	return work_last(a ^ 0x5555);
}

NOT_INLINED long work_jump(long a)
{
	jmp_buf env;
	int r = setjmp(env);

	if (!r)
		work_leave(&env, a);
	return work_last(r);
}

struct guard {
	int *count;
	~guard() { ++*count; }
};

NOT_INLINED int work_guarded(int a, int *count)
{
	guard g = { count };

	return (int)work_last(a) + 1;
}

#endif
