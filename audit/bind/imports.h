/* SPDX-License-Identifier: MIT */
/*
 * What an object imports that concerns us: XRay's runtime symbols, dlclose, prctl and syscall, and symbols that reveal
 * a sanitizer. One pass over the undefined symbols of its dynamic symbol table, in la_objopen, under ld.so's lock; also
 * whether an object defines such a symbol. Only reads; if a table is damaged, nothing outside of the object is read.
 *
 * The number of symbols to look at comes from the first of these that the object has: DT_GNU_HASH, since undefined
 * symbols come before the symbols that it lists; DT_HASH, which holds the number; relocations, which name symbols.
 * (Where DT_GNU_HASH lists no symbol, as in most programs, GNU ld gives 1 as the first listed one.)
 */
#ifndef XAUDIT_IMPORTS_H
#define XAUDIT_IMPORTS_H

#include <link.h>

#include "audit/model/object.h"

enum import {
	IMPORT_CUSTOM_EVENT,
	IMPORT_TYPED_EVENT,
	IMPORT_REGISTER,
	IMPORT_DEREGISTER,
	IMPORT_FUNCTION_HANDLER, /* four words */
	IMPORT_ARGUMENT_HANDLER,
	IMPORT_CUSTOM_HANDLER,
	IMPORT_TYPED_HANDLER,
	IMPORTS_XRAY, /* the ones before are XRay's */
	IMPORT_DLCLOSE = IMPORTS_XRAY,
	IMPORT_CYG_ENTER, /* what -finstrument-functions calls */
	IMPORT_CYG_LEAVE,
	IMPORT_GMON_START, /* of programs built with -pg: the profiler whose result is gmon.out */
	IMPORT_GMON_END,
	IMPORT_PRCTL, /* by which a program puts itself under a filter of system calls */
	IMPORT_SYSCALL,
	IMPORT_TSAN, /* of sanitizers, defined in the program itself or in their library (sanitizer.h) */
	IMPORT_MSAN,
	IMPORT_DFSAN,
	IMPORTS
};

struct imports {
	const Elf64_Sym *symbol[IMPORTS]; /* in the object's memory; NULL: not imported */
	uint32_t index[IMPORTS];
	const Elf64_Rela *relocation[2]; /* [0]: neither of the PLT nor relative; [1]: of the PLT. NULL: none */
	uint64_t relocations[2];
	int defines_dlclose;
	int foreign_tls; /* it imports a thread-local variable that is none of libc's */
	int sanitizer; /* one of IMPORT_TSAN ... IMPORT_DFSAN that it imports or defines; 0: none */
};

void imports_look(struct imports *imports, const struct load *load);

/* Which of these (mask of 1 << enum import) does the object define for others? */
unsigned imports_defined(const struct load *load, unsigned mask);

/* The address of the function that it defines for others; 0: none. */
uint64_t imports_definition(const struct load *load, enum import import);

#endif
