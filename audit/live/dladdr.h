/* SPDX-License-Identifier: MIT */
/*
 * dladdr() of a stub. Where bindings of a function are traced, dlsym() answers its stub, which lies in no object that
 * ld.so knows. So calls of libc's dladdr, dladdr1, backtrace_symbols and backtrace_symbols_fd go to ours, which ask the
 * real ones about the function behind the stub. To the program the stub is the function: of the stub's own address,
 * dladdr says that the symbol lies there (dli_saddr). Of ours, and of dlclose (audit/live/dlclose.h), they tell of the
 * real ones.
 *
 * Only libc's are replaced, where la_symbind64 is asked: PLT slots and dlsym(). Who interposes one of them looks for
 * libc's behind its own, and gets ours. In all namespaces those of the base namespace are called: they know the objects
 * of all, and stay.
 *
 * Our functions run on any thread of the program, in signal handlers as far as the real ones may. They take the process
 * lock for addresses that ld.so does not know, never while they call the real one. General registers only, no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_DLADDR_H
#define XAUDIT_AUDIT_LIVE_DLADDR_H

#include <stdint.h>

#include "audit/object.h"

/* The functions of ours that stand for another one. */
struct dladdr_pair {
	const char *name;
	uintptr_t ours, real; /* real 0: not known yet */
};

#define DLADDR_PAIRS 4
extern struct dladdr_pair dladdr_pairs[DLADDR_PAIRS];

/* la_objopen: the base namespace's libc has the real ones. ld.so's lock. */
void dladdr_note(const struct load *load);

/* What to bind to instead of the function of that name in `to`: ours, or address itself. Any context. */
uint64_t dladdr_through(const struct load *to, const char *name, uint64_t address);

#endif
