/* SPDX-License-Identifier: MIT */
/*
 * Programs built with TSan, MSan or DFSan: their runtime gives each address of the process a use. The mirror of the
 * program's stacks (x86_64/mirror.h) would lie in what is theirs, and they end the program when they find anything
 * there. So the kinds whose calls are kept in the mirror are refused.
 *
 * That it is so is known when the program is opened, before anything is patched or bound: it imports or defines
 * their functions. (Of a runtime that is preloaded into an ordinary program it is known a little later: what was
 * patched by then is recorded by its entries.) Later it can't come: it would have to be there first.
 */
#ifndef XAUDIT_SANITIZER_H
#define XAUDIT_SANITIZER_H

#include "audit/object.h"

/*
 * The load, of the program's start, tells of this sanitizer (enum import). Takes the kinds out of the rules, and
 * says so in one line if somebody asked for them. Returns 1, or 0 when that was done before. In la_objopen, before
 * the load is prepared; takes the process lock.
 */
int sanitizer_refuse(const struct load *load, int sanitizer, struct rules *rules);

/*
 * la_symbind64 for the calloc that ld.so itself uses from the end of relocation on, before it is done: the address to
 * bind instead of real, or that. ld.so calls it at once, for what each auditor with la_symbind64 has it note of its own
 * bindings; that of a TSan linked into the program (clang's) needs TSan's thread, which is made later, and crashes.
 * Ours answers itself until relocation is over, of memory that ld.so never frees; from then on it calls the real one.
 */
uintptr_t sanitizer_calloc(uintptr_t real);

/* The first LA_ACT_CONSISTENT: relocation is over. */
void sanitizer_settled(void);

#endif
