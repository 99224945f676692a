/* SPDX-License-Identifier: MIT */
/*
 * The keys of the configuration. Between the files of audit/rules/ and of tool/record/. Functions have no state: they
 * write only to their arguments.
 */
#ifndef XAUDIT_AUDIT_RULES_KEYS_H
#define XAUDIT_AUDIT_RULES_KEYS_H

#include <stdbool.h>

#include "audit/rules/rules.h"
#include "format/chain.h"

#define RULES_SIGNALS(X)                                                                                               \
	X(HUP) X(INT) X(QUIT) X(USR1) X(USR2) X(ALRM) X(TERM) X(URG) X(XCPU) X(VTALRM) X(PROF) X(WINCH) X(IO) X(PWR)
#define RULES_SIGNALS_ALLOWED "HUP, INT, QUIT, USR1, USR2, ALRM, TERM, URG, XCPU, VTALRM, PROF, WINCH, IO, PWR"

#define RULES_PATTERN_ALLOWED		    "FUNCGLOB or FUNCGLOB@LIBGLOB"
#define RULES_KINDS_ALLOWED		    TRACE_KIND_WORDS ", none"
#define RULES_FALLBACK_ALLOWED		    "entry, none"

/*
 * The keys: name, word, type of the value, its member of struct rules or rules_section, least and greatest number, and
 * what messages say is allowed. Code that reads values (audit/rules/keys.c) or writes them (tool/record/rules.c) uses
 * this table alone; options of `xaudit record` that are keys take their words from it (tool/record/record.c);
 * completion and manuals are compared with it (t/docs/help-man.t).
 */
#define RULES_KEYS_OF_TRACE(X)                                                                                         \
	X(OUTPUT, "output", PATH, output, 0, 0, "the path of a folder")                                                \
	RULES_KEYS_BEHIND_OUTPUT(X)
#define RULES_KEYS_BEHIND_OUTPUT(X)                                                                                    \
	X(BUFFER, "buffer", POWER, buffer, TRACE_CHUNK_MIN, TRACE_CHUNK_MAX,                                           \
		"a power of two from 64k to 1G, as in 4M")                                                             \
	X(CLOCK, "clock", WORD, clock, 0, 0, "auto, tsc, monotonic, coarse")                                           \
	X(FOLLOW, "follow", WORD, follow, 0, 0, "yes, no, always")                                                     \
	X(MODE, "mode", WORD, mode, 0, 0, "stream, ring, count")                                                       \
	X(RING, "ring", POWER, ring, RULES_RING_MIN, RULES_RING_MAX, "a power of two from 256k to 1G, as in 8M")       \
	X(SIZE_LIMIT, "size-limit", SIZE, size_limit, RULES_SIZE_LIMIT_MIN, INT64_MAX,                                 \
		"off, or at least 1M, as in 500M or 2G")                                                               \
	X(OVERFLOW, "overflow", WORD, overflow, 0, 0, "wait, drop")                                                    \
	X(ENABLED, "enabled", WORD, disabled, 0, 0, "yes, no")                                                         \
	X(PREPARE, "prepare", WORD, prepare, 0, 0, "selected, all, none")                                              \
	X(THROTTLE, "throttle", PERCENT, throttle, 1, 99, "off, or from 1% to 99%, as in 20%")                         \
	X(DEPTH, "depth", COUNT, depth, 1, 1000000, "off, or from 1 to 1000000")                                       \
	X(TIME, "time", TIME, time, 1, 100000000, "off, or from 1ns to 100ms, as in 500ns, 10us or 1.5ms")             \
	X(BELOW, "below", PATTERNS, below, 0, 0, RULES_PATTERN_ALLOWED)                                                \
	X(STACK_COPYING, "stack-copying", LIBRARIES, stack_copying, 0, 0, "names of libraries, as in _greenlet*")      \
	X(SNAPSHOT, "snapshot", SNAPSHOTS, snapshot_signal, 0, 0,                                                      \
		"exit, crash and one signal:NAME, where NAME is of " RULES_SIGNALS_ALLOWED)                            \
	X(CONTROL, "control", WORD, control_any, 0, 0, "owner, any")                                                   \
	X(MERGE, "merge", YES, merge, 0, 0, "yes, no")                                                                 \
	X(SCHED, "sched", YES, sched, 0, 0, "yes, no")                                                                 \
	X(PERF, "perf", YES, perf, 0, 0, "yes, no")                                                                    \
	X(VALUES, "values", WORD, no_values, 0, 0, "yes, no")                                                          \
	X(EVENT_BACKTRACE, "event-backtrace", COUNT, event_backtrace, 1, CHAIN_MOST, "off, or from 1 to 100")
#define RULES_KEYS_OF_SECTION(X)                                                                                       \
	X(KINDS, "kinds", KINDS, kinds, 0, 0, RULES_KINDS_ALLOWED)                                                     \
	X(FALLBACK, "fallback", KINDS, fallback, 0, 0, RULES_FALLBACK_ALLOWED)                                         \
	X(FUNCTIONS, "functions", PATTERNS, functions, 0, 0, RULES_PATTERN_ALLOWED)                                    \
	X(EXCLUDE, "exclude", PATTERNS, exclude, 0, 0, RULES_PATTERN_ALLOWED)

enum rules_key_number {
#define X(NAME, word, value, place, least, most, allowed) RULES_KEY_##NAME,
	RULES_KEYS_OF_TRACE(X) RULES_KEYS_OF_SECTION(X)
#undef X
		RULES_KEYS, /* how many; none */
	RULES_KEYS_TRACE = RULES_KEY_KINDS, /* how many are of [trace] */
};

/* Type of a key's value, and of the member that holds it. */
enum rules_value {
	RULES_VALUE_PATH,    /* const char * */
	RULES_VALUE_WORD,    /* int or enum: index of the allowed word */
	RULES_VALUE_YES,     /* int: is it the first of the allowed words? */
	RULES_VALUE_POWER,   /* size_t: bytes, a power of two */
	RULES_VALUE_SIZE,    /* uint64_t: bytes, or off: 0 */
	RULES_VALUE_PERCENT, /* unsigned, or off: 0 */
	RULES_VALUE_COUNT,   /* uint32_t, or off: 0 */
	RULES_VALUE_TIME,    /* uint64_t: ns, or off: 0 */
	/* Lists of words, on any number of lines. */
	RULES_VALUE_PATTERNS,  /* struct rules_pattern * */
	RULES_VALUE_LIBRARIES, /* struct rules_pattern *, any function of each */
	RULES_VALUE_SNAPSHOTS, /* snapshot_signal, and the two members after it */
	RULES_VALUE_KINDS,     /* unsigned: mask */
};

struct rules_key {
	const char *word, *allowed;
	enum rules_value value;
	uint32_t at; /* offset of its member */
	uint64_t least, most;
};
extern const struct rules_key rules_keys[RULES_KEYS];

/* The key of this word, of [trace] or of the other sections. RULES_KEYS: there is none. */
enum rules_key_number rules_key_find(int of_trace, const char *word, size_t length);

/* Keys that are no lists take one value, once. */
bool rules_key_is_list(enum rules_key_number key);

/* What a message says before a value that is wrong: "bad size ". */
const char *rules_key_bad(enum rules_key_number key);

/*
 * Sets a key of [trace] to this value, or adds one word of snapshot. The value must live as long as the rules. Returns
 * 0, or -1 when it is not allowed.
 */
int rules_key_set(struct rules *rules, enum rules_key_number key, const char *value);

/* Empties a list that an earlier text has filled. */
void rules_key_clear(struct rules *rules, enum rules_key_number key);

/*
 * Does the configuration accept the value for this key of [trace]? For options that mean the same as a key; not for
 * `below`. Returns NULL if it does, or what is allowed, for a message.
 */
const char *rules_wrong(const char *key, const char *value);

/* The name of a signal that `snapshot` takes, without SIG, or NULL. */
const char *rules_signal(int number);

#endif
