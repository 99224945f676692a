/* SPDX-License-Identifier: MIT */
/*
 * The rules once they are read, and the questions that they answer while the program runs. They are read in la_version
 * (audit/rules/rules.h: one thread, nothing traced yet) and changed by rules_refuse() alone, before the program runs.
 *
 * All functions are pure: no allocation, no libc, no state. Any thread, signal handlers too: la_symbind64 asks.
 */
#ifndef XAUDIT_AUDIT_MATCH_H
#define XAUDIT_AUDIT_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"
#include "runtime/base/arena.h"

/* FUNCGLOB or FUNCGLOB@LIBGLOB */
struct rules_pattern {
	struct rules_pattern *next;
	const char *function;
	const char *library; /* NULL: any */
};

/* A name that such functions have in the trace. */
struct rules_name {
	struct rules_name *next;
	struct rules_pattern *pattern; /* one */
	const char *name;
};

struct rules_section {
	struct rules_section *next;
	const char *library; /* glob; NULL for [program] */
	unsigned kinds;	     /* mask of 1 << enum trace_kind */
	/*
	 * The kind to use for selected functions without a site of the kinds in `kinds` in their own code; bindings
	 * (plt, calls) are no such site. Only entry so far. Set by the key of this name, and to entry where a section
	 * names functions and neither kinds nor fallback.
	 */
	unsigned fallback;
	struct rules_pattern *functions; /* in order; NULL: all */
	struct rules_pattern *exclude;
};

enum rules_clock { RULES_CLOCK_AUTO, RULES_CLOCK_TSC, RULES_CLOCK_MONOTONIC, RULES_CLOCK_COARSE };

/* Which sites are made ready at load for being switched on while the program runs. */
enum rules_prepare {
	RULES_PREPARE_SELECTED, /* those that the sections select (default) */
	RULES_PREPARE_ALL,	/* all of the kinds that a section of the object names */
	RULES_PREPARE_NONE,	/* none: text stays as in the file until `xaudit ctl` switches something on */
};

/* Are programs traced that this one executes? */
enum rules_follow {
	RULES_FOLLOW_YES, /* those that get our variables with their environment */
	RULES_FOLLOW_NO,
	RULES_FOLLOW_ALWAYS, /* others get our variables, too, where nothing speaks against it */
};

struct rules {
	struct arena arena;
	struct rules_section *sections;
	const char *output; /* absolute; %p and %u are not yet replaced */
	/* chunk size: a power of two from TRACE_CHUNK_MIN to TRACE_CHUNK_MAX; 0: not given (rules_buffer()) */
	size_t buffer;
	enum rules_clock clock;
	enum rules_follow follow;
	enum trace_mode mode;
	size_t ring;	     /* bytes of a thread's ring: a power of two from 256k to 1G, default 8M */
	uint64_t size_limit; /* bytes of a process's thread files, after which recording stops; 0: none */
	enum trace_overflow overflow;
	int disabled;	     /* selected functions are prepared, but off until they are switched on */
	enum rules_prepare prepare;
	unsigned throttle;   /* percent of a chunk that one function's calls under 200 ns may fill; 0: off */
	uint32_t depth;	     /* levels of open calls that are recorded; 0: all */
	uint64_t time;	     /* ns: shorter calls leave nothing in the trace; 0: all stay */
	struct rules_pattern *below; /* record only below calls of these functions; NULL: everywhere */
	struct rules_name *names;    /* of the first that matches; the others have that of their symbol */
	struct rules_pattern *stack_copying; /* while such a library is loaded only entries are recorded */
	int snapshot_signal; /* take a snapshot of the rings when this signal comes; 0: none */
	int snapshot_exit, snapshot_crash;
	/* any process of the same user may run `xaudit ctl` on this one (Yama); default: yes if XAUDIT_RULES is set */
	int control_any;
	int merge;	 /* MADV_MERGEABLE on patched pages */
	int sched;	 /* `xaudit record` writes context switches; nothing to the module */
	int perf;	 /* return addresses have labels of their own (x86_64/labels.h) */
	int no_values;	 /* [context] sections don't count */
	uint32_t event_backtrace; /* callers, most, that are recorded with a custom event; 0: no backtrace is */
	/* RULES of format/plan.h: which values of calls are recorded; NULL: none */
	const char *values;
	/* for users: path of the file, "command line", both ("command line and FILE"), or "defaults" */
	const char *source;
	const char *file;   /* the configuration that was read; NULL: none */
	int defaults;	    /* no source held a section, so these are the default ones */
};

/*
 * The section that decides about an object, or NULL when none matches. path: as ld.so knows it; soname may be NULL;
 * program: the main executable. A pattern is compared with the basename of path and with the soname; with the whole
 * path if the pattern holds a '/'.
 */
const struct rules_section *rules_for(const struct rules *rules, const char *path, const char *soname, int program);

/*
 * Does the section select this function of this object? name NULL (unknown): only `*` patterns match. For kind `calls`,
 * path and soname are those of the called library.
 */
int rules_select(const struct rules_section *section, const char *name, const char *path, const char *soname);

/* Could the section select any function of this object? Not if all its patterns are for other libraries. */
bool rules_may_select(const struct rules_section *section, const char *path, const char *soname);

/* Does the pattern match this function of this object? As in rules_select(). */
bool rules_match(const struct rules_pattern *pattern, const char *name, const char *path, const char *soname);

/* The name of the first that matches this function of this object; NULL: none does. */
const char *rules_name_of(const struct rules_name *names, const char *name, const char *path, const char *soname);

/*
 * Do the patterns name functions: are there any, and none that all functions match? `*` and `*@LIBGLOB` name none.
 */
bool rules_name_functions(const struct rules_pattern *patterns);

/* Takes these kinds out of all sections. In la_objopen of the program, or of a library that it is started with. */
void rules_refuse(struct rules *rules, unsigned kinds);

/* All kinds that any section asks for, or falls back to. */
unsigned rules_kinds(const struct rules *rules);

/*
 * Shell pattern: * ? [a-z] [!a-z] and \ before a special character; a [ without its ] is an ordinary character. * and ?
 * match '/' too. Case counts. No locale, no allocation; async-signal-safe. Time: pattern times text at worst.
 */
bool rules_glob(const char *pattern, const char *text);

/* "4M", "512k", "1G", bytes -> bytes, below 2^63, or 0 when it is no size. */
uint64_t rules_bytes(const char *text);

/* Kind by its word; -1: there is none. length: of word. */
int rules_kind(const char *word, size_t length);

#endif
