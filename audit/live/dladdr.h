/* SPDX-License-Identifier: MIT */
/*
 * dladdr() of a stub. Where bindings of a function are traced, dlsym() returns its stub, which lies in no object that
 * ld.so knows. So calls of libc's dladdr, dladdr1, backtrace_symbols and backtrace_symbols_fd go to ours, which ask the
 * real ones about the function that the stub stands for. To the program the stub is the function: for the stub's own
 * address, dladdr says that the symbol lies there (dli_saddr). For the addresses of these functions of ours, and of our
 * dlclose (audit/live/dlclose.h), they answer as for the real ones.
 *
 * Only libc's functions are replaced, where ld.so calls la_symbind64 (PLT slots and dlsym()), and in words that need
 * no PLT (audit/bind/no_plt.h). Code that interposes one of them looks for the next one after its own, libc's, and gets
 * ours. In all namespaces ours call those of the base namespace: these know the objects of all namespaces, and are
 * never unloaded.
 *
 * mprotect and pkey_mprotect go the same way, to audit/live/values.h, where values of calls are asked for.
 *
 * Our functions run on any thread of the program, in signal handlers as far as the real ones may. They take the process
 * lock for addresses that ld.so does not know, but don't hold it while they call the real one. General registers only,
 * no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_DLADDR_H
#define XAUDIT_AUDIT_LIVE_DLADDR_H

#include <stdint.h>

#include "audit/model/object.h"

/* A function of ours that replaces another one. */
struct dladdr_pair {
	const char *name;
	uintptr_t ours, real; /* real 0: not known yet */
};

#define DLADDR_PAIRS 6
#define DLADDR_PROTECT 4 /* from here on: only where values of calls are asked for */
extern struct dladdr_pair dladdr_pairs[DLADDR_PAIRS];

#endif
