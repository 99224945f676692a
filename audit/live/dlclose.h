/* SPDX-License-Identifier: MIT */
/*
 * dlclose from inside a handler of the program. It may unload the handler's own library, with the code that dlclose
 * would return to. So the program's calls of dlclose go to ours. If the thread is in a handler, ours tells ld.so that
 * two libraries stay for good (RTLD_NODELETE): that of the handler's function, and that of the handler's argument. Then
 * it *jumps* to the real one. Outside of handlers all this costs one load and a compare.
 *
 * The handler's library is pinned even if this dlclose would not unload it: only ld.so knows what else holds it
 * (handles, dependencies, bindings to its symbols), and ld.so tells when it is too late to stop the unload. Libraries
 * that the program was started with stay anyway.
 *
 * To pin it we call dlmopen(RTLD_NOLOAD) of the program's libc, the one whose dlclose was called, with the name by
 * which ld.so knows the library. That call may take ld.so's lock, as dlclose itself would a moment later, and it clears
 * dlerror(), as dlclose does.
 *
 * None of this happens before the first handler is set. When a handler is set, the words where ld.so has put the
 * address of dlclose are replaced in all objects: PLT slots, words that -fno-plt code fetches, pointers in data; also
 * PLT slots that are not bound yet and for which ld.so would not call la_symbind64. Later bindings by name go through
 * la_symbind64; in processes that could set a handler, results of dlsym() do, too. Other calls go to the real dlclose:
 * through copies of the pointer made earlier, through pointers in data of objects that are loaded later, and in other
 * namespaces; if a library goes that way, la_objclose says so.
 */
#ifndef XAUDIT_AUDIT_LIVE_DLCLOSE_H
#define XAUDIT_AUDIT_LIVE_DLCLOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/model/object.h"
#include "x86_64/dlclose_call.h"

/*
 * At the first LA_ACT_CONSISTENT, before the program runs: the addresses of dlclose and dlmopen in the base namespace.
 * Only the first call counts.
 */
void dlclose_bind(uint64_t dlclose, uint64_t dlmopen);

/*
 * la_objopen: notes how the object defines or imports dlclose. defines: it does; symbol: the index of the symbol that
 * it imports, 0: none; the relocations that can bind it.
 */
void dlclose_note(struct load *load, int defines, uint32_t symbol, const Elf64_Rela *const relocation[2],
	const uint64_t relocations[2]);

/* A handler is about to be set. Any thread, general registers only, no libc; takes the process lock. */
void dlclose_watch(void);

/* 1 after the first handler was set. */
extern uint32_t dlclose_watched;

/* The real dlclose; 0: not known. */
static inline uint64_t dlclose_real(void)
{
	return dlclose_call_ways.real;
}

static inline bool dlclose_is_watched(void)
{
	/* Relaxed: a thread that binds a moment too early binds as before. */
	return __atomic_load_n(&dlclose_watched, __ATOMIC_RELAXED) != 0;
}

/* What to bind to, or jump to, instead of this address: ours for dlclose, else the address itself. */
static inline uint64_t dlclose_through(uint64_t address)
{
	return dlclose_is_watched() && address == dlclose_real() ? (uint64_t)(uintptr_t)dlclose_call : address;
}

#endif
