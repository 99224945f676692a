/* SPDX-License-Identifier: MIT */
/*
 * Programs built with TSan, MSan or DFSan: the sanitizer's runtime assigns a use to each address of the process. The
 * mirror of the program's stacks (x86_64/mirror.h) would lie in addresses that the runtime claims, and it ends the
 * program when it finds anything there. So the kinds whose calls are kept in the mirror are refused.
 *
 * A sanitizer is recognized when the program is opened, before anything is patched or bound: the program imports or
 * defines the runtime's functions. (A runtime that is preloaded into an ordinary program is recognized a little later:
 * of functions patched before that, only entries are recorded.) A runtime can't be loaded later still: it has to be
 * there first.
 */
#ifndef XAUDIT_SANITIZER_H
#define XAUDIT_SANITIZER_H

#include "audit/model/object.h"

/*
 * A load at the program's start imports or defines functions of this sanitizer (enum import). Takes the refused kinds
 * out of the rules, and prints one line about it if the configuration asked for them. Returns 1, or 0 when that was
 * done before. In la_objopen, before the load is prepared; takes the process lock.
 */
int sanitizer_refuse(const struct load *load, int sanitizer, struct rules *rules);

#endif
