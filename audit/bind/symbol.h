/* SPDX-License-Identifier: MIT */
/*
 * The dynamic symbol table of an object in memory, without dlsym: dlsym would fail for objects that were not opened by
 * dlopen, and its binding would go through us. Only reads, of an object that stays loaded meanwhile; if a table is
 * damaged, nothing outside of the object is read. Any thread, no lock, no heap.
 */
#ifndef XAUDIT_SYMBOL_H
#define XAUDIT_SYMBOL_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/model/object.h"

/* Of one object. Pointers are NULL where the table is missing, or lies outside. */
struct symbol_tables {
	const struct load *load;
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *gnu_hash, *hash;
	const Elf64_Rela *rela, *plt;
	uint64_t rela_count, plt_count, relative;
};

/* Fills them in. Returns 0 when there is no symbol table. */
int symbol_tables(struct symbol_tables *t, const struct load *load);

/* Does p ... p+size-1 lie in the object? */
bool symbol_is_inside(const struct load *load, const void *p, uint64_t size);

/* The symbol's name; "" when it lies outside. */
const char *symbol_name(const struct symbol_tables *t, const Elf64_Sym *symbol);

/* A symbol of that name which the object lists, defined or not; NULL: none. */
const Elf64_Sym *symbol_look(const struct symbol_tables *t, const char *name);

/* The same, unless there are several, of different versions: then NULL. */
const Elf64_Sym *symbol_look_only(const struct symbol_tables *t, const char *name);

/* Address of the defined function `name` (any version; no IFUNC), or 0. */
uintptr_t symbol_find(const struct load *load, const char *name);

/* Is it a libc, by its soname; or a libdl, which has dlopen, dladdr and such up to glibc 2.33? */
bool symbol_is_libc(const struct load *load);

/*
 * Address by which to call that function in the base namespace's libc, or, up to glibc 2.33, in its libdl, without
 * raising an event (entry_past()); 0: there is none, or it is not loaded yet. No process lock held. A call may bind
 * slots of that libc for the first time, and other auditors hear of it.
 */
uintptr_t symbol_of_libc(const char *name);

/*
 * ld.so's link_map of the object that holds the address, in any namespace; *map = NULL: none does. Returns 0 when there
 * is nobody to ask. ld.so's lock is held, or the process has one thread. It asks the function of ld.so that dladdr1()
 * and dlopen() ask. (Should there be none, dladdr1(). _dl_find_object() does not find the second auditor: seen in
 * 2.36.)
 */
int symbol_owner(const void *address, const struct link_map **map);

#endif
