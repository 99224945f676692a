/* SPDX-License-Identifier: MIT */
/*
 * Bindings: what la_symbind64 makes of one object's reference to another's function. A traced binding goes to a stub of
 * the *defining* object's load, one per function there, so that every caller and every dlsym get the same address, and
 * a pointer that the caller hands on stays good as long as the function itself.
 *
 * Any thread, signal handlers too (lazy binding); concurrent; takes the process lock. libc's string functions may be
 * used: ld.so has saved the vector registers.
 */
#ifndef XAUDIT_BIND_H
#define XAUDIT_BIND_H

#include <link.h>

#include "audit/object.h"

/* The address to bind instead of symbol->st_value, or that itself. flags: la_symbind64's. */
uintptr_t bind(const Elf64_Sym *symbol, struct load *from, struct load *to, unsigned flags, const char *name);

#endif
