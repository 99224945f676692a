/* SPDX-License-Identifier: MIT */
/*
 * dl_iterate_phdr as programs are bound to it: all that the real one lists, then this module, so that unwinders
 * find the way through our frames (unwinder.h). It comes last, since callers know the order: the program is first,
 * and ASan starts only if its own library follows.
 *
 * The real one lists the namespace that its return address lies in. So we have it called from libc's own text: by
 * bsearch, which calls what it is given, for a list of one element. Frames and their unwinding are then ordinary
 * ones all the way, for exceptions that leave the callback too.
 *
 * Only libc's dl_iterate_phdr is replaced. Who interposes it (TSan, servers that cache the list) looks for libc's
 * behind its own, and gets ours.
 */
#ifndef XAUDIT_ITERATE_H
#define XAUDIT_ITERATE_H

#include <stdint.h>

#include "audit/object.h"

/* la_symbind64 for dl_iterate_phdr of `to`: the address to bind instead of real, or that. Any thread; no lock. */
uintptr_t iterate_bind(const struct load *to, uintptr_t real);

#endif
