/* SPDX-License-Identifier: MIT */
/*
 * The keys of the configuration. Between rules.c, audit/rules/ini.c and audit/rules/keys.c; pure, but for what they are
 * told to write to.
 */
#ifndef XAUDIT_AUDIT_RULES_KEYS_H
#define XAUDIT_AUDIT_RULES_KEYS_H

#include "audit/rules/rules.h"

#define RULES_SIGNALS(X)                                                                                               \
	X(HUP) X(INT) X(QUIT) X(USR1) X(USR2) X(ALRM) X(TERM) X(URG) X(XCPU) X(VTALRM) X(PROF) X(WINCH) X(IO) X(PWR)
#define RULES_SIGNALS_ALLOWED "HUP, INT, QUIT, USR1, USR2, ALRM, TERM, URG, XCPU, VTALRM, PROF, WINCH, IO, PWR"

#define RULES_PATTERN_ALLOWED		    "FUNCGLOB or FUNCGLOB@LIBGLOB"
#define RULES_KINDS_ALLOWED		    TRACE_KIND_WORDS ", none"

/* Name, word, what a message says before a wrong value, and what it says is allowed. */
#define RULES_KEYS_OF_TRACE(X)                                                                                         \
	X(OUTPUT, "output", "bad value ", "the path of a folder")                                                      \
	RULES_KEYS_BEHIND_OUTPUT(X)
#define RULES_KEYS_BEHIND_OUTPUT(X)                                                                                    \
	X(BUFFER, "buffer", "bad size ", "a power of two from 64k to 1G, as in 4M")                                    \
	X(CLOCK, "clock", "bad value ", "auto, tsc, monotonic, coarse") \
	X(FOLLOW, "follow", "bad value ", "yes, no")                                                                   \
	X(MODE, "mode", "bad value ", "stream, ring, count")                                                           \
	X(RING, "ring", "bad size ", "a power of two from 256k to 1G, as in 8M")                                       \
	X(SIZE_LIMIT, "size-limit", "bad size ", "off, or at least 1M, as in 500M or 2G")                              \
	X(OVERFLOW, "overflow", "bad value ", "wait, drop")                                                            \
	X(ENABLED, "enabled", "bad value ", "yes, no")                                                                 \
	X(PREPARE, "prepare", "bad value ", "selected, all, none")                                                     \
	X(THROTTLE, "throttle", "bad value ", "off, or from 1% to 99%, as in 20%")                                     \
	X(DEPTH, "depth", "bad value ", "off, or from 1 to 1000000")                                                   \
	X(TIME, "time", "bad value ", "off, or from 1ns to 100ms, as in 500ns, 10us or 1.5ms")                         \
	X(BELOW, "below", "bad value ", RULES_PATTERN_ALLOWED)                                                         \
	X(STACK_COPYING, "stack-copying", "bad value ", "names of libraries, as in _greenlet*")                        \
	X(SNAPSHOT, "snapshot", "bad value ",                                                                          \
		"exit, crash and one signal:NAME, where NAME is of " RULES_SIGNALS_ALLOWED)                            \
	X(CONTROL, "control", "bad value ", "owner, any")                                                              \
	X(MERGE, "merge", "bad value ", "yes, no")
#define RULES_KEYS_OF_SECTION(X)                                                                                       \
	X(KINDS, "kinds", "bad value ", RULES_KINDS_ALLOWED)                                                           \
	X(FUNCTIONS, "functions", "bad value ", RULES_PATTERN_ALLOWED)                                                 \
	X(EXCLUDE, "exclude", "bad value ", RULES_PATTERN_ALLOWED)

enum rules_key_number {
#define X(NAME, word, what, allowed) RULES_KEY_##NAME,
	RULES_KEYS_OF_TRACE(X) RULES_KEYS_OF_SECTION(X)
#undef X
		RULES_KEYS, /* how many; none */
};

struct rules_key {
	const char *word, *what, *allowed;
};
extern const struct rules_key rules_keys[RULES_KEYS];

/* A key of [trace], or of the other sections. RULES_KEYS: there is none such. */
enum rules_key_number rules_key_find(int of_trace, const char *word);

/* Does it take words, on as many lines as one likes? Others take one value, once. */
int rules_key_is_list(enum rules_key_number key);

/*
 * Takes a value of a key of [trace], or one more word of snapshot. It must live as long as the rules. Returns 0, or -1
 * when it is not allowed.
 */
int rules_key_set(struct rules *rules, enum rules_key_number key, const char *value);

/* Forgets what an earlier text has listed. */
void rules_key_clear(struct rules *rules, enum rules_key_number key);

#endif
