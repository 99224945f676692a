/* SPDX-License-Identifier: MIT */
/*
 * XRay's runtime symbols, for objects that import them where no other object defines them: libraries with event sleds
 * import __xray_CustomEvent and __xray_TypedEvent, libraries built with -fxray-shared (LLVM 20) import six more, and
 * without LLVM's own runtime a program can't load such libraries.
 *
 * In la_objopen, before the object is relocated, such a symbol of its dynamic symbol table is changed in memory from
 * undefined to absolute and hidden, with the address of ours. For every kind of relocation, lazy or not, whatever the
 * version, ld.so uses the value of a hidden symbol as it is; when ld.so or dlsym() searches the object for a
 * definition, it ignores the symbol. From then on the page is a private copy; its protection is restored at once.
 *
 * Definitions of other objects come first: a symbol that any open object of the namespace defines is left alone (LLVM's
 * runtime in the program, linked -rdynamic; a stub in a preloaded library). If the defining object is opened later, but
 * before the next LA_ACT_CONSISTENT, the symbol is changed back: none of these objects is relocated yet. libxaudit-api
 * does not count: its definitions end in the same functions, and the object may be unable to reach them (RTLD_LOCAL).
 *
 * All functions: under ld.so's lock; they take the process lock.
 */
#ifndef XAUDIT_AUDIT_RUNTIME_SYMBOLS_H
#define XAUDIT_AUDIT_RUNTIME_SYMBOLS_H

#include <stdint.h>

#include "audit/bind/imports.h"
#include "audit/model/object.h"

/* la_objopen: gives the object the XRay symbols that it imports. */
void runtime_symbols_give(struct load *load, const struct imports *imports);

/* Gives an undefined symbol of the load this address, for good. Returns 0 or -errno. Lock held. */
int runtime_symbols_set(const struct load *load, const Elf64_Sym *symbol, uint64_t address);

/* Writes an undefined symbol of the load's as it was before runtime_symbols_set(). Returns 0 or -errno. Lock held. */
int runtime_symbols_write(const struct load *load, const Elf64_Sym *symbol, const Elf64_Sym *before);

/* LA_ACT_CONSISTENT: the opened objects are relocated now, or before any other object is opened. */
void runtime_symbols_settled(void);

/* la_objclose: the object is closed. */
void runtime_symbols_forget(const struct load *load);

#endif
