/* SPDX-License-Identifier: MIT */
/*
 * What an object imports that concerns us: XRay's runtime symbols, dlclose, and those that tell a sanitizer. One look
 * at the undefined symbols of its dynamic symbol table, in la_objopen, under ld.so's lock; also whether an object
 * defines such a symbol. Pure reading; of a damaged table, what lies outside of the object is not looked at.
 *
 * Who wants to know how many symbols there are has three ways, and takes the first there is: undefined symbols come
 * before those that DT_GNU_HASH lists; DT_HASH has the number; relocations name them. (GNU ld says 1 for the first
 * listed symbol where none is, as in most programs.)
 */
#ifndef XAUDIT_IMPORTS_H
#define XAUDIT_IMPORTS_H

#include <link.h>

#include "audit/object.h"

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
	IMPORT_TSAN, /* of sanitizers, defined in the program itself or in their library (sanitizer.h) */
	IMPORT_MSAN,
	IMPORT_DFSAN,
	IMPORTS
};

struct imports {
	const Elf64_Sym *symbol[IMPORTS]; /* in the object's memory; NULL: not imported */
	uint32_t index[IMPORTS];
	const Elf64_Rela *relocation[2]; /* those that are not the PLT's, nor relative; the PLT's. NULL: none */
	uint64_t relocations[2];
	int defines_dlclose;
	int foreign_tls; /* it imports a thread-local variable that is none of libc's */
	int sanitizer; /* one of IMPORT_TSAN ... IMPORT_DFSAN that it imports or defines; 0: none */
};

void imports_look(struct imports *imports, const struct load *load);

/* Which of these (mask of 1 << enum import) does the object define for others? */
unsigned imports_defined(const struct load *load, unsigned mask);

#endif
