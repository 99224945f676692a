/* SPDX-License-Identifier: MIT */
/* A second auditor for t/loader/loader.t. It takes part in all bindings (not with NO_SYMBIND), and changes nothing. */
#define _GNU_SOURCE
#include <link.h>

unsigned la_version(unsigned version)
{
	return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	(void)map;
	(void)namespace;
	(void)cookie;
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

#ifndef NO_SYMBIND
uintptr_t la_symbind64(
	Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags, const char *name)
{
	(void)index;
	(void)from;
	(void)to;
	(void)flags;
	(void)name;
	return symbol->st_value;
}
#endif
