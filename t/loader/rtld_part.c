/* SPDX-License-Identifier: MIT */
/*
 * A library for t/loader/rtld.t. NAME is a prefix for its functions:
 *	NAME_touch()	a thread_local variable, which is dynamic TLS in a library that dlopen() loads
 *	NAME_hold()	calls a function, and holds the caller inside meanwhile
 * STATIC_TLS: it needs more static TLS than there is for anybody. THOUSAND: a thousand functions t_000 to t_999
 * instead.
 */
#define JOIN(a, b)  JOIN_(a, b)
#define JOIN_(a, b) a##b

#ifdef THOUSAND
#include "rtld_thousand.h"
#define ONE(n)                                     \
	void t_##n(void)                           \
	{                                          \
		__asm__ volatile("/* " #n " */"); \
	}
EACH_OF_THOUSAND(ONE)
#else

#ifdef STATIC_TLS
static __thread char much[4 << 20] __attribute__((tls_model("initial-exec")));

char *JOIN(NAME, _much)(void)
{
	return much;
}
#endif

static __thread int touched = 40;

int JOIN(NAME, _touch)(int n)
{
	touched += n;
	return touched;
}

int JOIN(NAME, _hold)(int (*function)(void *), void *argument)
{
	int r = function(argument);

	__asm__ volatile("" : "+r"(r));
	return r;
}
#endif
