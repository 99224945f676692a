/* SPDX-License-Identifier: MIT */
/*
 * The RULES about probes of a running process (format/plan.h), as a set that `xaudit ctl` changes: what is asked for is
 * always given to the process as a whole. Pure, but that memory that runs out ends the command. One thread.
 */
#ifndef XAUDIT_TOOL_CTL_PROBE_RULES_H
#define XAUDIT_TOOL_CTL_PROBE_RULES_H

#include <stdbool.h>
#include <stddef.h>

#define PROBE_RULES_MOST (120u << 10) /* bytes: for objects to come they are one word of a command */

struct probe_rule {
	char *where, *name, *key, *value; /* key: without "probe " in front */
	bool older; /* it was read, and not added */
};

struct probe_rules {
	struct probe_rule *rule; /* those of one name follow each other */
	size_t rules;
	char *others; /* the lines that plans of probes are made by, too: those of prototypes; never NULL */
};

/* Those about probes in RULES, which may be NULL. */
void probe_rules_read(struct probe_rules *to, const char *text);
void probe_rules_free(struct probe_rules *rules);

/* Is there a probe of that name? */
bool probe_rules_have(const struct probe_rules *rules, const char *name);

/* Adds a rule behind the last one of that name, or at the end. The texts are copied. */
void probe_rules_add(struct probe_rules *to, const char *where, const char *name, const char *key, const char *value);

/* Drops the probe of that name, or all whose name matches it as a pattern, too. Returns how many. */
size_t probe_rules_drop(struct probe_rules *rules, const char *name, bool is_pattern);

/* Drops what is recorded of the probe, and when: contexts, if, every, then. Returns whether there was any of that. */
bool probe_rules_drop_contexts(struct probe_rules *rules, const char *name);

/* Of all, or of one name, as RULES; to be freed. */
char *probe_rules_text(const struct probe_rules *rules, const char *name);

/* All, to make plans by: of what is wrong with older ones nothing is said, as it was when they were added. */
char *probe_rules_quiet(const struct probe_rules *rules);

#endif
