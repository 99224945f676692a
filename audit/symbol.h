/* SPDX-License-Identifier: MIT */
/*
 * Finding a function in an object of the program's, without dlsym: that would fail for objects that nobody dlopened, and bind
 * through us. Reads the object's own hash table. The object must be relocated and stay. Any thread, no lock, no heap.
 */
#ifndef XAUDIT_SYMBOL_H
#define XAUDIT_SYMBOL_H

#include <link.h> /* struct link_map */
#include <stdint.h>

/* Address of the defined function `name` (any version; no IFUNC), or 0. */
uintptr_t symbol_find(const struct link_map *map, const char *name);

/* What DT_GNU_HASH lists a name by. */
uint32_t symbol_hash(const char *name);

#endif
