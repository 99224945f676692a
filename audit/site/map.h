/* SPDX-License-Identifier: MIT */
/*
 * Maps: the tables of a file that name the sites of a kind, in its sections or where a note of it says. Between site.c,
 * which finds those in sections, and the scan of each kind (scan_*.h).
 *
 * A scan appends functions and sites of the kind to the set, whose arrays have room for maps->count, and sets
 * kind_reason[kind]. set->of[kind] tells where they begin; the caller fills in their numbers afterwards. It returns 0
 * or -ENOMEM.
 */
#ifndef XAUDIT_AUDIT_SITE_MAP_H
#define XAUDIT_AUDIT_SITE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct site_file;

/* One map: a table of entries. */
struct site_map {
	struct site_map *next;
	const uint8_t *bytes;
	uint64_t address;
	size_t count; /* of entries */
};

/* All maps of a kind. */
struct site_maps {
	struct site_map *first, *last;
	size_t count;	/* of entries; there are at most as many functions, and sites */
	uint64_t bytes; /* of sections */
	int damaged;	/* a map that the file announces is missing */
};

/* Adds a map. Returns 0 or -ENOMEM (of scratch). */
int site_add_map(struct site_file *file, struct site_maps *maps, const uint8_t *bytes, uint64_t address, size_t count);

#endif
