/* SPDX-License-Identifier: MIT */
/*
 * From options to what the module reads. Everything goes as INI text through XAUDIT_RULES, one pattern per line, and is
 * read here once as the module will read it: so mistakes are told before the command runs.
 */
#ifndef XAUDIT_TOOL_RECORD_RULES_H
#define XAUDIT_TOOL_RECORD_RULES_H

struct record_objects;
struct record_options;
struct rules;

/*
 * Turns the options into the rules and the environment of the traced command (LD_AUDIT, GLIBC_TUNABLES, XAUDIT_RULES,
 * XAUDIT_CONFIG), and sets them in this process's environment. objects: of the command. Returns the path of the trace
 * folder, absolute, %p replaced (the caller frees it), and the rules as the module will read them (arena_free() is the
 * caller's, in any case); or NULL after one line on stderr. *searched becomes the path of a configuration that is used
 * though no option names it, or NULL; the caller frees it.
 */
char *record_prepare(const struct record_options *options, const struct record_objects *objects, struct rules *rules,
	char **searched);

/* A path from the root, which the caller frees; NULL after one line on stderr. */
char *record_absolute(const char *path);

/*
 * The part of record_prepare() that needs no rules: LD_AUDIT and GLIBC_TUNABLES. path: of the command, or NULL: any
 * command. Returns 0, or -1 after one line on stderr.
 */
int record_environment(const char *path);

#endif
