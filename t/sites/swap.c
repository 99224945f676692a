/* SPDX-License-Identifier: MIT */
/*
 * An auditor of somebody else, for t/sites/files.t: when the library comes whose path ends with what SWAP_OLD says, it
 * renames SWAP_NEW to that name, or removes it where SWAP_NEW is empty. It needs a library of its own.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int counted_by_auditor(void);

unsigned la_version(unsigned version)
{
	return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	const char *old = getenv("SWAP_OLD"), *new = getenv("SWAP_NEW");
	size_t length = strlen(map->l_name);

	(void)namespace;
	(void)cookie;
	counted_by_auditor();
	if (!old || !new || length < strlen(old) || strcmp(map->l_name + length - strlen(old), old))
		return 0;
	if (*new ? rename(new, map->l_name) : unlink(map->l_name))
		write(2, "swap: it failed\n", 16);
	return 0;
}
