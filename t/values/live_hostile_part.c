/* SPDX-License-Identifier: MIT */
/* 150 functions h0() to h149(), which take all kinds of arguments, and do nothing with them. */
#define FUNCTION __attribute__((noinline))

volatile long work;
long live_variable = -1;
char live_text[20] = "a text";

#define MAKE(n)                                                                                                        \
	FUNCTION unsigned long h##n(unsigned long a, unsigned long b, unsigned long c, unsigned long d, double x,      \
		unsigned long e, unsigned long f, unsigned long g, unsigned long h)                                    \
	{                                                                                                              \
		for (int i = 0; i < 2; i++)                                                                            \
			work += n;                                                                                     \
		(void)b, (void)c, (void)d, (void)x, (void)e, (void)f, (void)g;                                         \
		return a ^ h;                                                                                          \
	}
#define TEN(n)                                                                                                         \
	MAKE(n##0)                                                                                                     \
	MAKE(n##1) MAKE(n##2) MAKE(n##3) MAKE(n##4) MAKE(n##5) MAKE(n##6) MAKE(n##7) MAKE(n##8) MAKE(n##9)
TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) TEN(11) TEN(12) TEN(13) TEN(14)

#define NAME(n) h##n,
#define TEN_NAMES(n)                                                                                                   \
	NAME(n##0) NAME(n##1) NAME(n##2) NAME(n##3) NAME(n##4) NAME(n##5) NAME(n##6) NAME(n##7) NAME(n##8) NAME(n##9)

unsigned long (*const live_functions[150])(unsigned long, unsigned long, unsigned long, unsigned long, double,
	unsigned long, unsigned long, unsigned long, unsigned long) = { TEN_NAMES() TEN_NAMES(1) TEN_NAMES(2)
		TEN_NAMES(3) TEN_NAMES(4) TEN_NAMES(5) TEN_NAMES(6) TEN_NAMES(7) TEN_NAMES(8) TEN_NAMES(9)
			TEN_NAMES(10) TEN_NAMES(11) TEN_NAMES(12) TEN_NAMES(13) TEN_NAMES(14) };
