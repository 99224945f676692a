/* SPDX-License-Identifier: MIT */
/* The least that an auditor can do, for comparison: a second libc in its namespace, and the callbacks' calls. */
#define _GNU_SOURCE
#include <link.h>

__attribute__((visibility("default"))) unsigned la_version(unsigned version)
{
	return version;
}

__attribute__((visibility("default"))) unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	(void)map, (void)namespace, (void)cookie;
	return 0;
}
