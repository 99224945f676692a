/* SPDX-License-Identifier: MIT */
/*
 * Bindings: the address that la_symbind64 gives to one object's reference to a function of another object. A traced
 * binding goes to a stub that belongs to the load of the *defining* object, one per function, so that every caller and
 * every dlsym get the same address, and a pointer that the caller passes on stays valid as long as the function itself.
 *
 * Any thread, signal handlers too (lazy binding); concurrent; takes the process lock. libc's string functions may be
 * used: ld.so has saved the vector registers.
 */
#ifndef XAUDIT_BIND_H
#define XAUDIT_BIND_H

#include <link.h>

#include "audit/model/object.h"

/*
 * The address to bind instead of symbol->st_value, or symbol->st_value itself. flags: la_symbind64's. hash:
 * object_hash() of the name, where the caller has it; or NULL.
 */
uintptr_t bind(const Elf64_Sym *symbol, struct load *from, struct load *to, unsigned flags, const char *name,
	const uint32_t *hash);

/*
 * A stub of the load's that leads to the function whose address is the first word of what `side` points to
 * (x86_64/tramp_cyg.S); 0: no memory. Lock held.
 */
uint64_t bind_told(struct load *load, const void *side);

/*
 * The address to bind for a function that must be watched (audit/bind/nointercept.h), or its own: no memory. No event
 * is raised. Lock held.
 */
uint64_t bind_watched(struct load *to, const char *name, uint64_t body);

#endif
