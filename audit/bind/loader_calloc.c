/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* LM_ID_BASE */
#include "audit/bind/loader_calloc.h"

#include <dlfcn.h>  /* LM_ID_BASE */
#include <stddef.h> /* size_t */

#include "audit/model/object.h"
#include "runtime/base/arena.h"

#define ENTRY 32 /* bytes of the table for each PLT slot: struct reloc_result of glibc 2.35 to 2.43 */

typedef void *calloc_function(size_t n, size_t size);

static int over; /* the table is there, or will not come */
static size_t table;
static calloc_function *real_calloc;

/* For ld.so, under its lock. */
static void *calloc_for_loader(size_t n, size_t size)
{
	static struct arena memory; /* for the life of the process */
	size_t all;

	if (over || __builtin_mul_overflow(n, size, &all) || all != table)
		return real_calloc(n, size);
	over = 1;
	return arena_alloc(&memory, all);
}

static size_t table_of_loader(void)
{
	const struct load *load = loads;

	while (load && !(load->object->flags & TRACE_OBJECT_LOADER && load->namespace == LM_ID_BASE))
		load = load->next;
	for (const Elf64_Dyn *d = load ? load->map->l_ld : NULL; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_PLTRELSZ)
			return d->d_un.d_val / sizeof(Elf64_Rela) * ENTRY;
	return 0;
}

uintptr_t loader_calloc_bind(uintptr_t real)
{
	table = table_of_loader();
	if (!table)
		return real;
	real_calloc = (calloc_function *)real;
	return (uintptr_t)calloc_for_loader;
}

void loader_calloc_settled(void)
{
	over = 1;
}
