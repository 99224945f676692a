/* SPDX-License-Identifier: MIT */
/*
 * What ld.so keeps in the private part of a link_map: how often dlopen gave it out, how many thread_local destructors
 * of it are still to run, and whether it may ever be unloaded. Where that lies differs between versions of glibc, so it
 * is found out: by doing to this module what changes them, and looking what changed.
 */
#ifndef XAUDIT_AUDIT_CHECK_LINK_MAP_H
#define XAUDIT_AUDIT_CHECK_LINK_MAP_H

#include <link.h>
#include <stdint.h>

struct check_offsets {
	uint32_t opens, destructors, nodelete; /* 0: not found */
};

/* At the first LA_ACT_CONSISTENT. Returns 0, or -1 when the counts of dlopen or the mark were not found. This module
 * gets the mark. */
int check_map_find(struct check_offsets *found);

/* Of a link_map of an open load. UINT64_MAX, and 0, when it can't be told. */
uint64_t check_map_opens(const struct check_offsets *at, const struct link_map *map);
uint64_t check_map_destructors(const struct check_offsets *at, const struct link_map *map);
/* Marked NODELETE, for whatever reason: dlclose does not even count then. 0 when it can't be told. */
int check_map_nodelete(const struct check_offsets *at, const struct link_map *map);

/*
 * Where the program's libc, which is of the same file as ours, keeps a thread's list of functions for its end: bytes
 * from the thread's fs base to the list's first pointer. 0: not found. As check_map_find().
 */
int64_t check_map_thread_list(const struct link_map *libc);

#endif
