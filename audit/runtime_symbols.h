/* SPDX-License-Identifier: MIT */
/*
 * XRay's runtime symbols for objects that nobody gives them to: libraries with event sleds import __xray_CustomEvent
 * and __xray_TypedEvent, those built -fxray-shared (LLVM 20) six symbols more, and no program without LLVM's own
 * runtime can load them.
 *
 * In la_objopen, before the object is relocated, such a symbol of its dynamic symbol table is changed in memory from
 * undefined to absolute and hidden, with the address of ours. ld.so takes a hidden symbol as it stands for every kind
 * of relocation, lazy or not, whatever its version, and overlooks it when others search the object; so does dlsym().
 * The page is a private copy from then on and has its protection back at once.
 *
 * Somebody else's definition comes first: what any open object of the namespace defines is left alone (LLVM's runtime
 * in the program, linked -rdynamic; a stub in a preloaded library), and what an object defines that is opened later,
 * but before the next LA_ACT_CONSISTENT, is given back: nothing of these objects is relocated yet. libxaudit-api does
 * not count: its definitions end in the same functions, and may be out of the object's reach (RTLD_LOCAL).
 *
 * All under ld.so's lock; takes the process lock.
 */
#ifndef XAUDIT_AUDIT_RUNTIME_SYMBOLS_H
#define XAUDIT_AUDIT_RUNTIME_SYMBOLS_H

#include <stdint.h>

#include "audit/imports.h"
#include "audit/object.h"

/* la_objopen: gives the object what it imports of XRay's. */
void runtime_symbols_give(struct load *load, const struct imports *imports);

/* LA_ACT_CONSISTENT: what was opened is relocated now, or before anything else is opened. */
void runtime_symbols_settled(void);

/* la_objclose: the object goes. */
void runtime_symbols_forget(const struct load *load);

/*
 * What the symbols become. The calls come on program threads, from constructors and destructors: general registers
 * only, no libc.
 */

/* The handlers that LLVM's trampolines in such an object call: none, ever. */
extern uint64_t runtime_symbols_handlers[4];

/*
 * The object's sled map begins at `start`: its number at the XRay interface (audit/live/xray.h), -1 if it has none.
 * More arguments are not looked at: the module has read the object's file.
 */
int32_t runtime_symbols_register(const void *start);

/* Is this the number of an open load other than the program? It stays so until the load is closed. */
uint8_t runtime_symbols_deregister(int32_t number);

#endif
