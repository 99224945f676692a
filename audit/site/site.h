/* SPDX-License-Identifier: MIT */
/*
 * Site discovery: which functions of an ELF file have compile-time sites, and where. Pure function of the file.
 *
 * Used by the module in la_objopen (ld.so's lock held, no other thread can touch the object) and by `xaudit list`.
 * Reads section headers; the maps (xray_instr_map, __patchable_function_entries) with the object's own relocations
 * (.rela.dyn, RELR) applied; the table of guards that a note names (no section headers needed); symbols; and, where
 * symbols are missing, function starts of .eh_frame_hdr. All results live in the set's arena; nothing points into the
 * file after site_scan() returns. Addresses are link-time addresses (add the load address).
 *
 * A function with several sites of one kind is used as a whole or not at all: one bad sled refuses the function. Event
 * sleds are the exception: one that can't be used is counted, but is no site. A function may have event sleds only.
 */
#ifndef XAUDIT_AUDIT_SITE_SITE_H
#define XAUDIT_AUDIT_SITE_SITE_H

#include <stddef.h>
#include <stdint.h>

#include "audit/match/kinds.h" /* kind_home */
#include "format/trace.h" /* enum trace_kind, enum trace_reason */
#include "runtime/base/arena.h"
#include "x86_64/sled.h"   /* enum sled_type */

struct site {
	uint64_t address;  /* of the sled's first instruction; hot patchable ones are also written before it */
	uint16_t type;	   /* enum sled_type */
	uint16_t length;   /* bytes of the instructions that a patch covers; a patchable body goes on after them */
	uint32_t function; /* index in site_set.function */
};

/* More about a site that is an event sled. */
struct site_event {
	uint32_t site; /* its index */
	struct sled_event sled;
};

/* One function of one kind. A function that has xray and patchable sites (none does today) would appear twice. */
struct site_function {
	uint64_t address; /* of the function */
	uint64_t size;	  /* 0: unknown */
	const char *name; /* from .symtab, else .dynsym; NULL: unknown */
	uint32_t first;	  /* site[first ... first+count-1] are its sites, by address */
	uint16_t count;	  /* 0 when refused */
	uint8_t kind : 7; /* enum trace_kind */
	uint8_t log_args : 1; /* its XRay entry says that the first argument is to be logged */
	uint8_t reason;	  /* enum trace_reason: TRACED (0) means usable */
};

/* Functions of one kind, and their sites: index of the first one in the set, and their number. */
struct site_range {
	uint32_t function, functions;
	uint32_t site, sites;
	/*
	 * For each of these sites: the address in the same function that the patch jumps to, minus the site's address.
	 * NULL: they jump to stubs.
	 */
	int32_t *target;
};

struct site_set {
	struct arena arena;
	struct site *site; /* in order of function, then address */
	/*
	 * In order of kind. XRay functions are in order of the map, so a function's id for the XRay interface is its
	 * position; functions of other kinds are in order of address. If nothing is known of a function that holds
	 * guards, its `address` is that of its first guard.
	 */
	struct site_function *function;
	struct site_range of[TRACE_KIND_COUNT];
	uint32_t sites, functions;
	struct site_event *event; /* in order of site */
	uint32_t events, events_left; /* event sleds that are sites; those that can't be used */
	/*
	 * Why a kind has no functions: NO_SITES, NO_SECTIONS, DAMAGED, MAP_VERSION, or NOT_SELECTED (not asked for).
	 * TRACED when it has functions, and for kinds that need nothing of the file.
	 */
	uint8_t kind_reason[TRACE_KIND_COUNT];
	uint8_t build_id[64];
	uint32_t build_id_len;
	int textrel; /* DT_TEXTREL or DF_TEXTREL */
};

/*
 * Scans the file of this descriptor (which stays open, its position unchanged) for the kinds in the mask (1 <<
 * TRACE_KIND_...). Returns 0, -ENOEXEC when it is no x86-64 ELF executable or shared object, or another -errno (the set
 * is empty then). A file whose tables make no sense is no error: kind_reason and each function's reason say so. The set
 * must be zero or freed before. No stdio, no locale, no abort; memory from the set's arena, and from one that is freed
 * before it returns.
 */
int site_scan(struct site_set *set, int fd, unsigned kinds);

void site_free(struct site_set *set);

/* The range that holds site n. */
static inline const struct site_range *site_range_of(const struct site_set *set, uint32_t n)
{
	return &set->of[kind_home(set->function[set->site[n].function].kind)];
}

#endif
