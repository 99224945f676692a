/* SPDX-License-Identifier: MIT */
/*
 * Plans: what the command gives the module about the values of a file's functions (format/values.h). `xaudit index
 * --values=RULES` writes one for a file; the module copies it into private memory, checks it, and uses its parts for
 * the functions that it traces.
 *
 * A plan is one block of bytes: the head, its functions in ascending order of `offset`, then code, layouts and names,
 * wherever the functions say. Everything is little endian and naturally aligned; positions count from the plan's first
 * byte, 0 stands for none.
 *
 * RULES, in the word after --values=, are lines "WHERE<tab>PATTERN<tab>KEY<tab>VALUE", one for each key of a section
 * [context PATTERN] of the rules, in the order of the sources; PATTERN is FUNCGLOB or FUNCGLOB@LIBGLOB. WHERE is
 * FILE:LINE, or an option, for messages. Of several sections that match a function, all count. KEY is context, if,
 * every, longer or secret (tool/values/wanted.h). A line whose PATTERN is empty is of the section [prototypes]: its
 * VALUE is one line of that, and its KEY says nothing.
 *
 * A function is there once, whatever its names are: a pattern that matches any of them matches it.
 */
#ifndef XAUDIT_FORMAT_PLAN_H
#define XAUDIT_FORMAT_PLAN_H

#include <stdint.h>

#define PLAN_MAGIC   "xauplan\1"
#define PLAN_VERSION 3
#define PLAN_SUFFIX  ".plan" /* of those that are kept */
#define PLAN_MAX     (256u << 20) /* bytes, most */

/* What is done at one end of a function's calls. */
struct plan_part {
	uint32_t code;	 /* position; it ends with its operation END */
	uint32_t size;	 /* bytes of the code; 0: there is none */
	uint32_t layout; /* position of a struct trace_layout (`layout` and `event` are 0); 0: it puts no values */
	uint32_t bytes;	 /* trace_layout.head.size */
};

struct plan_function {
	uint64_t offset; /* link-time address; of an IFUNC that of its resolver, with one of these for each name */
	uint32_t name;	 /* position of its name, which ends with NUL: as the symbol has it */
	uint32_t every;	 /* one call of a thread in so many is recorded, the others are left out; 0: each is */
	uint64_t longer; /* ns: shorter calls are left out; 0: none */
	struct plan_part entry, end;
};

struct plan_head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t count; /* of functions */
	uint64_t size;	/* of the plan, with this head */
	struct plan_function function[];
};

#endif
