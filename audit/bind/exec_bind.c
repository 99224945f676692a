/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* LM_ID_BASE */
#include "audit/bind/exec_bind.h"

#include <dlfcn.h> /* LM_ID_BASE */

#include "audit/bind/symbol.h"
#include "runtime/process/execute.h"

/* The address that the load itself defines for the name; 0: none. */
static uint64_t defined(const struct load *load, const char *name)
{
	struct symbol_tables tables;
	const Elf64_Sym *symbol = symbol_tables(&tables, load) ? symbol_look(&tables, name) : NULL;

	return symbol && symbol->st_shndx != SHN_UNDEF ? load->base + symbol->st_value : 0;
}

void exec_bind_libc(const struct load *libc)
{
	uint64_t environment = 0;

	if (libc->namespace != LM_ID_BASE)
		return;
	/* A program at fixed addresses has a copy of libc's word, which libc uses, too. */
	for (const struct load *load = loads; load && !environment; load = load->next)
		if (load->object->flags & TRACE_OBJECT_PROGRAM)
			environment = defined(load, "__environ");
	if (!environment)
		environment = defined(libc, "__environ");
	if (environment)
		execute_libc(environment, defined(libc, "execve"), defined(libc, "execvpe"));
}
