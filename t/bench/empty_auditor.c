/* SPDX-License-Identifier: MIT */
/*
 * The least that an auditor which uses libc can do, for comparison: a second libc in its namespace, and the callbacks.
 * With -DBARE -nostdlib: without libc, which is the least that ld.so asks of a program with an auditor.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>

__attribute__((visibility("default"))) unsigned la_version(unsigned version)
{
#ifdef BARE
	return version;
#else
	/* The call is what makes libc needed. */
	return getenv("XAUDIT_BENCH_REFUSE") ? 0 : version;
#endif
}

__attribute__((visibility("default"))) unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	(void)map, (void)namespace, (void)cookie;
	return 0;
}
