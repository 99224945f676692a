/* SPDX-License-Identifier: MIT */
/*
 * Plans: what the command gives the module about the values of a file's functions (format/values.h). `xaudit index
 * --values=RULES` writes one for a file; the module copies it into private memory, checks it, and uses its parts for
 * the functions that it traces.
 *
 * A plan is one block of bytes: the head, its functions in ascending order of `offset` (those with PLAN_PROBE among
 * them, behind a function at the same one), then probes and windows (format/probe.h), actions, code, layouts and names,
 * wherever the head and the functions say. Everything is little endian and naturally aligned; positions count from the
 * plan's first byte, 0 stands for none.
 *
 * RULES, in the word after --values=, are lines "WHERE<tab>PATTERN<tab>KEY<tab>VALUE", one for each key of a section
 * [context PATTERN] of the rules, in the order of the sources; PATTERN is FUNCGLOB or FUNCGLOB@LIBGLOB. WHERE is
 * FILE:LINE, or an option, for messages. Of several sections that match a function, all count. KEY is context, if,
 * every, longer or secret (tool/values/wanted.h). A line whose PATTERN is empty is of the section [prototypes]: its
 * VALUE is one line of that, and its KEY says nothing.
 *
 * Lines of a section [probe NAME] have NAME in the place of PATTERN, and "probe " before the KEY: "probe at" (the
 * place: xaudit-probes(7)), "probe context", "probe if", "probe every", "probe then". Lines of one NAME follow each
 * other. Actions of functions are the key "then" of a section [context PATTERN].
 *
 * A function is there once, whatever its names are: a pattern that matches any of them matches it.
 */
#ifndef XAUDIT_FORMAT_PLAN_H
#define XAUDIT_FORMAT_PLAN_H

#include <stdint.h>

#include "format/probe.h"

#define PLAN_MAGIC   "xauplan\1"
#define PLAN_VERSION 5
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
	uint32_t flags;	 /* enum plan_function_flags */
	uint32_t action; /* number of its first struct plan_action; PROBE_NONE */
};

enum plan_function_flags {
	PLAN_PROBE = 1, /* values of a probe at `offset`, which struct plan_probe.function names; no function */
};

/* What else is done where the conditions of a function's call, or of a probe, hold. */
enum plan_action_what {
	PLAN_ACTION_MARK = 1, /* a custom event, TRACE_TYPE_MARK: its text */
	PLAN_ACTION_SNAPSHOT = 2,
	PLAN_ACTION_START = 3, /* recording, of the process or (PLAN_ACTION_THREAD) of the thread */
	PLAN_ACTION_STOP = 4,
};

enum plan_action_flags {
	PLAN_ACTION_THREAD = 1,
	PLAN_ACTION_ONCE = 2, /* the first time in the process */
	PLAN_ACTION_AT_END = 4, /* of functions: when the call ends (results, longer); else at its entry */
	/*
	 * When a call has not ended after `longer` (runtime/values/running.h): a snapshot, with AT_END, as what is
	 * known at the entry is kept, and without conditions of the end.
	 */
	PLAN_ACTION_RUNNING = 8,
};

/*
 * Its conditions are code of their own, which puts nothing and only says whether the action is due: what is recorded of
 * the call does not depend on it. What `end` takes from the entry, the entry of the function keeps.
 */
struct plan_action {
	uint8_t what;  /* enum plan_action_what */
	uint8_t flags; /* enum plan_action_flags */
	uint16_t zero;
	uint32_t text;	  /* position: what a mark says; of a snapshot its name, "" for the usual one */
	uint64_t at_most; /* ns: one in that time; 0: each. Of snapshots whoever makes them holds it */
	uint64_t longer;  /* ns: only where the call took so long, or takes so long; 0: any. Such a one has AT_END */
	uint64_t every;	  /* one in so many; 0: each */
	struct plan_part entry, end; /* conditions, of what is known at either end of a call */
	uint32_t next;	  /* number of the next one of the same function or probe; PROBE_NONE */
	uint32_t counts;  /* number of the one, this or an earlier one, whose every, once and at-most count for it */
};

struct plan_head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t count; /* of functions */
	uint64_t size;	/* of the plan, with this head */
	uint32_t probes, windows, actions; /* how many */
	/* Positions of struct plan_probe[], plan_window[], plan_action[]; 0 where there is none of them. */
	uint32_t probe, window, action;
	struct plan_function function[];
};

#endif
