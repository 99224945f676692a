/* SPDX-License-Identifier: MIT */
/*
 * Our dl_iterate_phdr, to which programs are bound: it lists everything that the real one lists, then this module, so
 * that unwinders find the way through our frames (unwinder.h). The module comes last, since callers rely on the order:
 * the program is first, and ASan starts only if its own library is next.
 *
 * The real one lists the namespace of its return address. So it must be called from libc's own text: bsearch does that,
 * with the real one as comparison function and a list of one element. Then all frames are ordinary ones that can be
 * unwound, also by exceptions that leave the callback.
 *
 * Only libc's dl_iterate_phdr is replaced. Code that interposes it (TSan, servers that cache the list) looks for the
 * next one after its own, libc's, and gets ours.
 */
#ifndef XAUDIT_ITERATE_H
#define XAUDIT_ITERATE_H

#include <stdint.h>

#include "audit/model/object.h"

/* la_symbind64 for dl_iterate_phdr of `to`: the address to bind instead of `real`, or `real`. Any thread; no lock. */
uintptr_t iterate_bind(const struct load *to, uintptr_t real);

#endif
