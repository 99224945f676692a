/* SPDX-License-Identifier: MIT */
/*
 * dlclose from inside a handler. The handler's own library may go by it, with the code that dlclose would return to. So
 * the program's calls of dlclose go to ours, which looks whether the thread is in a handler; if so, ld.so is told that
 * the library of its function, and that of its argument, stay for good (RTLD_NODELETE).
 * Then it *jumps* to the real one. In all other cases, that is one load and a compare.
 *
 * Pinned is whatever library the handler lies in, not only one that this very dlclose would unload: who holds it
 * (handles, dependencies, symbols that were bound to) only ld.so knows, and it tells when nothing can be stopped any
 * more. Libraries that the program was started with stay anyway.
 *
 * The pin is the program's own dlmopen(RTLD_NOLOAD), of the libc whose dlclose it is: ld.so finds the library by the
 * name that it has for it. It may take ld.so's lock, as dlclose itself would a moment later, and clears dlerror(), as
 * that does.
 *
 * Nothing of this is there before the first handler is set. Then, and with each one more, the words where ld.so has put
 * the address of dlclose are replaced in all objects: PLT slots, what -fno-plt fetches, pointers in data; also PLT
 * slots that are still to be bound, where la_symbind64 would not be asked. What is bound later, by name, la_symbind64
 * sees; and what dlsym() finds, in all processes that could set a handler. What is left, copies of the pointer from
 * before, pointers in data of objects that come later, and dlclose of other namespaces, goes to the real one;
 * la_objclose says so when it comes to that.
 */
#ifndef XAUDIT_AUDIT_LIVE_DLCLOSE_H
#define XAUDIT_AUDIT_LIVE_DLCLOSE_H

#include <stdint.h>

#include "audit/imports.h"
#include "audit/object.h"
#include "x86_64/dlclose_call.h"

/*
 * At the first LA_ACT_CONSISTENT, before the program runs: this is dlclose in the base namespace, and dlmopen there.
 * The first one counts.
 */
void dlclose_bind(uint64_t dlclose, uint64_t dlmopen);

/* la_objopen: what the object has to do with dlclose. */
void dlclose_note(struct load *load, const struct imports *imports);

/* A handler is about to be set. Any thread, general registers only, no libc; takes the process lock. */
void dlclose_watch(void);

/* A handler was set once. */
extern uint32_t dlclose_watched;

/* The real one; 0: not known. */
static inline uint64_t dlclose_real(void)
{
	return dlclose_call_ways.real;
}

static inline int dlclose_is_watched(void)
{
	/* Relaxed: who binds a moment too early binds as before. */
	return __atomic_load_n(&dlclose_watched, __ATOMIC_RELAXED) != 0;
}

/* What to bind to, or jump to, instead of this address: the same but for that of dlclose. */
static inline uint64_t dlclose_through(uint64_t address)
{
	return dlclose_is_watched() && address == dlclose_real() ? (uint64_t)(uintptr_t)dlclose_call : address;
}

#endif
