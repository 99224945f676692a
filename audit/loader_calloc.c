/* SPDX-License-Identifier: MIT */
#include "audit/loader_calloc.h"

#include <stddef.h> /* size_t */

#include "runtime/arena.h"

typedef void *calloc_function(size_t n, size_t size);

static int settled;
static calloc_function *real_calloc;

/* For ld.so, under its lock. */
static void *calloc_for_loader(size_t n, size_t size)
{
	static struct arena memory; /* for the life of the process */
	size_t all;

	if (settled)
		return real_calloc(n, size);
	return __builtin_mul_overflow(n, size, &all) ? NULL : arena_alloc(&memory, all);
}

uintptr_t loader_calloc_bind(uintptr_t real)
{
	real_calloc = (calloc_function *)real;
	return (uintptr_t)calloc_for_loader;
}

void loader_calloc_settled(void)
{
	settled = 1;
}
