/* SPDX-License-Identifier: MIT */
/*
 * Site discovery: which functions of an ELF file have compile-time sites, and where. Pure function of the file.
 *
 * Used by the module in la_objopen (ld.so's lock held, no other thread can touch the object) and by `xaudit list`.
 * Reads section headers, the maps (xray_instr_map, __patchable_function_entries), overlaid with the object's own
 * relocations (.rela.dyn, RELR), the table of guards that a note names (no section headers needed), symbols, and
 * function starts of .eh_frame_hdr where symbols are missing. All results live in the set's arena; nothing points into
 * the file after site_scan() returns. Addresses are link-time addresses (add the load address).
 *
 * A function with several sites of one kind is used as a whole or not at all: one bad sled refuses the function. Event
 * sleds are the exception: one that can't be used is no site, and is counted. A function may have event sleds alone.
 */
#ifndef XAUDIT_AUDIT_SITE_SITE_H
#define XAUDIT_AUDIT_SITE_SITE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/arena.h"
#include "format/trace.h" /* enum trace_kind, enum trace_reason */
#include "x86_64/sled.h"   /* enum sled_type */

struct site {
	uint64_t address;  /* of the sled's first instruction; hot patchable ones are also written before it */
	uint16_t type;	   /* enum sled_type */
	uint16_t length;   /* bytes of the instructions that a patch covers; a patchable body goes on behind them */
	uint32_t function; /* index in site_set.function */
};

/* What is known beyond that of a site that is an event sled. */
struct site_event {
	uint32_t site; /* its index */
	struct sled_event sled;
};

/* One function of one kind. A function that has xray and patchable sites (none does today) would appear twice. */
struct site_function {
	uint64_t address; /* of the function */
	uint64_t size;	  /* 0: unknown */
	const char *name; /* from .symtab, else .dynsym; NULL: unknown */
	uint32_t first;	  /* site[first ... first+count-1] are its sites; their order by address is that of the code */
	uint16_t count;	  /* 0 when refused */
	uint8_t kind : 7; /* enum trace_kind */
	uint8_t log_args : 1; /* its XRay entry says that the first argument is to be logged */
	uint8_t reason;	  /* enum trace_reason: TRACED (0) means usable */
};

/* Functions of one kind, and their sites: indices of the first ones in the set, and how many follow. */
struct site_range {
	uint32_t function, functions;
	uint32_t site, sites;
	/*
	 * Of site[site ...]: where what the patch jumps to begins, in code of the same function, less the site's
	 * address. NULL: it jumps to a stub.
	 */
	int32_t *target;
};

struct site_set {
	struct arena arena;
	struct site *site; /* in order of function, then address */
	/*
	 * In order of kind. Those of xray in order of the map, so a function's id for the XRay interface is its place
	 * there; those of other kinds by address. Of a function that holds guards, `address` is that of the first one
	 * where nothing is known of the function.
	 */
	struct site_function *function;
	struct site_range of[TRACE_KIND_COUNT];
	uint32_t sites, functions;
	struct site_event *event; /* in order of site */
	uint32_t events, events_left; /* that are sites; that are none, since they can't be used */
	/* Why a whole kind has nothing: NO_SITES, NO_SECTIONS, DAMAGED, MAP_VERSION; NOT_SELECTED: was not asked for;
	 * TRACED when functions exist, and for kinds that need nothing of the file. */
	uint8_t kind_reason[TRACE_KIND_COUNT];
	uint8_t build_id[64];
	uint32_t build_id_len;
	int textrel; /* DT_TEXTREL or DF_TEXTREL */
};

/* A function as a user thinks of it, sites or not. For `xaudit list` only. */
struct site_symbol {
	uint64_t address, size; /* size 0: unknown */
	const char *name;	/* NULL: unknown */
	uint32_t exported;	/* 1: other objects can bind to it */
};

struct site_symbols {
	struct site_symbol *symbol; /* by address, each address once */
	size_t count;
	size_t calls; /* JUMP_SLOT relocations: functions of other objects (or its own) that it calls through its PLT */
};

/*
 * Scans the file behind fd (not closed, its position untouched) for the kinds in the mask (1 << TRACE_KIND_...).
 * Returns 0, -ENOEXEC when it is no x86-64 ELF executable or shared object, or another -errno (the set is empty
 * then). A file whose tables make no sense is no error: kind_reason and each function's reason say so. The set must
 * be zero or freed before. No stdio, no locale, no abort; memory from the set's arena and one that is
 * gone when it returns.
 */
int site_scan(struct site_set *set, int fd, unsigned kinds);

/*
 * All functions of the file, aliases dropped (the first global name wins): from .symtab, else .dynsym joined with
 * the starts of .eh_frame_hdr. In the set's arena, which may be that of a scan. Returns 0 or -errno, as above.
 */
int site_symbols(struct site_set *set, int fd, struct site_symbols *symbols);

void site_free(struct site_set *set);

/* The range that holds site n. */
static inline const struct site_range *site_range_of(const struct site_set *set, uint32_t n)
{
	return &set->of[set->function[set->site[n].function].kind];
}

#endif
