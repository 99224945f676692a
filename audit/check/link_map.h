/* SPDX-License-Identifier: MIT */
/*
 * Three fields of the private part of ld.so's link_map: how often dlopen returned the object, how many of its
 * thread_local destructors are still to run, and whether it may ever be unloaded. Their offsets differ between versions
 * of glibc, so we find them: we do to this module what changes these fields, and look which bytes have changed.
 */
#ifndef XAUDIT_AUDIT_CHECK_LINK_MAP_H
#define XAUDIT_AUDIT_CHECK_LINK_MAP_H

#include <link.h>
#include <stdint.h>

struct check_offsets {
	uint32_t opens, destructors, nodelete; /* 0: not found */
};

/*
 * At the first LA_ACT_CONSISTENT. Returns 0, or -1 when the count of dlopen or the mark was not found. As a side effect
 * this module is marked NODELETE.
 */
int check_map_find(struct check_offsets *found);

/* Of a link_map of an open load. When unknown: UINT64_MAX from the first, 0 from the second. */
uint64_t check_map_opens(const struct check_offsets *at, const struct link_map *map);
uint64_t check_map_destructors(const struct check_offsets *at, const struct link_map *map);
/* Is it marked NODELETE, for whatever reason? Then dlclose does not even count. 0 when unknown. */
int check_map_nodelete(const struct check_offsets *at, const struct link_map *map);

/*
 * Where the program's libc keeps a thread's list of functions to run at its end: bytes from the thread's fs base to the
 * list's first pointer. 0: not found. To be called when check_map_find() is. Both add functions that do nothing to the
 * calling thread's list.
 */
int64_t check_map_thread_list(const struct link_map *of);

#endif
