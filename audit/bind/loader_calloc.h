/* SPDX-License-Identifier: MIT */
/*
 * The calloc that ld.so itself calls at the start of a program, before anything has run that the program's allocator
 * may need.
 *
 * ld.so looks up its allocator once libc is relocated. If a module has la_symbind64, ld.so then allocates a table of
 * its own bindings, which it never frees, and only then initializes libc, and runs constructors. An allocator that the
 * program or a preloaded library defines may not work so early: a jemalloc with a background thread starts that
 * thread, whose stack can't be made yet; a TSan that is linked into the program has no state of the thread; GCL's has
 * not executed itself again without randomized addresses. Without modules no calloc is called that early. So the memory
 * of that one table is ours. All other calls go to the real one, also those of libraries that another module opens in
 * its callbacks meanwhile: ld.so will free what these get.
 */
#ifndef XAUDIT_LOADER_CALLOC_H
#define XAUDIT_LOADER_CALLOC_H

#include <stdint.h>

/*
 * la_symbind64 for ld.so's own look-up of calloc, before the first LA_ACT_CONSISTENT: the address to bind instead of
 * `real`. Under ld.so's lock.
 */
uintptr_t loader_calloc_bind(uintptr_t real);

/* The first LA_ACT_CONSISTENT: relocation is over, and no table will come. Again: nothing happens. */
void loader_calloc_settled(void);

#endif
